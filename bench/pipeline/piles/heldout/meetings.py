"""Held-out papers of meetings: what is to be discussed, and what was. No rule was written on these."""

from sheet import LETTER, Sheet

AGENDA = {
    "en": dict(title=["Regular Session - Agenda", "Agenda for the meeting of the board", "Notice of Meeting and Agenda"], body=["Town Council", "Board of Trustees", "Works Committee"],
               at="Meeting Room 2, Town Hall, at 6:30 pm", items=["Opening and apologies for absence", "Approval of the previous minutes", "Public comment period",
               "Consent items", "Report of the treasurer", "Street lighting programme, second reading", "Appointment of two auditors", "Tree felling at the market square",
               "Any other business", "Date of the next meeting", "Close"], sub=["Staff recommends approval.", "Presented by the works department.", "For information."]),
    "es": dict(title=["Orden del día", "Convocatoria de sesión ordinaria", "Convocatoria y orden del día"], body=["Pleno del Ayuntamiento", "Junta directiva", "Comisión de obras"],
               at="Salón de plenos, a las 18:30 horas", items=["Apertura y excusas de asistencia", "Aprobación del acta anterior", "Ruegos del público",
               "Asuntos de trámite", "Informe de tesorería", "Programa de alumbrado, segunda lectura", "Nombramiento de dos auditores", "Tala de árboles en la plaza",
               "Ruegos y preguntas", "Fecha de la próxima sesión", "Cierre"], sub=["Se propone su aprobación.", "Expone el servicio de obras.", "Para información."]),
    "de": dict(title=["Tagesordnung", "Einladung zur Sitzung", "Einladung und Tagesordnung"], body=["Gemeinderat", "Vorstand", "Bauausschuss"],
               at="Sitzungssaal, 18.30 Uhr", items=["Eröffnung und Feststellung der Beschlussfähigkeit", "Genehmigung der letzten Niederschrift", "Einwohnerfragestunde",
               "Laufende Angelegenheiten", "Bericht des Kassenwarts", "Straßenbeleuchtung, zweite Lesung", "Wahl zweier Kassenprüfer", "Baumfällung am Marktplatz",
               "Verschiedenes", "Nächster Termin", "Schluss"], sub=["Zustimmung wird empfohlen.", "Vortrag der Bauverwaltung.", "Zur Kenntnis."]),
    "fr": dict(title=["Ordre du jour", "Convocation à la séance", "Convocation et ordre du jour"], body=["Conseil municipal", "Comité directeur", "Commission des travaux"],
               at="Salle du conseil, à 18 h 30", items=["Ouverture et excuses", "Approbation du procès-verbal précédent", "Questions du public",
               "Affaires courantes", "Rapport du trésorier", "Éclairage public, deuxième lecture", "Désignation de deux vérificateurs", "Abattage d'arbres place du marché",
               "Questions diverses", "Date de la prochaine séance", "Clôture"], sub=["Avis favorable proposé.", "Présenté par les services techniques.", "Pour information."]),
}
MINUTES = {
    "en": dict(title=["Minutes", "Minutes of the regular session", "Record of the meeting"], here="In attendance", away="Excused", chair="chair", took="clerk",
               did=["The chair called the meeting to order at 6:32 pm.", "It was moved and seconded to approve the minutes of the last meeting; carried unanimously.",
                    "The treasurer reported a surplus. There were no questions.", "A member asked when the lamps in Mill Lane would be replaced.",
                    "Resolved, by five votes to two, to award the work to the lowest bidder.", "Action: the clerk will obtain two further offers by the end of the month.",
                    "There being no further business, the meeting was adjourned at 8:10 pm."], sign="Approved as a correct record"),
    "es": dict(title=["Acta de la sesión", "Acta", "Acta de la reunión ordinaria"], here="Asisten", away="Excusan su asistencia", chair="presidente", took="secretario",
               did=["El presidente abre la sesión a las 18:32 horas.", "Se aprueba por unanimidad el acta de la sesión anterior.",
                    "El tesorero informa de un superávit. No hay preguntas.", "Un vocal pregunta cuándo se cambiarán las farolas de la calle del Molino.",
                    "Se acuerda, por cinco votos a favor y dos en contra, adjudicar la obra a la oferta más baja.", "El secretario solicitará dos ofertas más antes de fin de mes.",
                    "Y no habiendo más asuntos que tratar, se levanta la sesión a las 20:10 horas."], sign="Vº Bº del presidente"),
    "de": dict(title=["Niederschrift", "Sitzungsprotokoll", "Protokoll der ordentlichen Sitzung"], here="Anwesend", away="Entschuldigt", chair="Vorsitz", took="Protokoll",
               did=["Die Vorsitzende eröffnet die Sitzung um 18.32 Uhr und stellt die Beschlussfähigkeit fest.", "Die Niederschrift der letzten Sitzung wird einstimmig genehmigt.",
                    "Der Kassenwart berichtet über einen Überschuss. Fragen gibt es nicht.", "Ein Mitglied fragt, wann die Lampen im Mühlenweg erneuert werden.",
                    "Beschluss: Der Auftrag geht an den günstigsten Bieter (5 Ja, 2 Nein, 0 Enthaltungen).", "Die Schriftführung holt bis Monatsende zwei weitere Angebote ein.",
                    "Die Vorsitzende schließt die Sitzung um 20.10 Uhr."], sign="Für die Richtigkeit"),
    "fr": dict(title=["Procès-verbal de la séance", "Compte rendu", "Compte rendu de la séance ordinaire"], here="Présents", away="Excusés", chair="président", took="secrétaire",
               did=["Le président ouvre la séance à 18 h 32.", "Le procès-verbal de la dernière séance est approuvé à l'unanimité.",
                    "Le trésorier fait état d'un excédent. Aucune question n'est posée.", "Un membre demande quand seront remplacés les lampadaires de la rue du Moulin.",
                    "Par cinq voix contre deux, le conseil décide d'attribuer le marché au moins-disant.", "Le secrétaire demandera deux offres de plus avant la fin du mois.",
                    "L'ordre du jour étant épuisé, la séance est levée à 20 h 10."], sign="Le secrétaire de séance"),
}


def agenda(w, font, count, subs):
    words = AGENDA[w.language]
    s = Sheet(font, LETTER if w.language == "en" else (595, 842), margin=64)
    s.line(w.pick(words["body"]), 16, True, "center")
    s.line(w.pick(words["title"]), 14, True, "center")
    s.line(f"{w.date(style='long')}, {words['at']}", 10, align="center", after=18)
    items = words["items"][:1] + w.some(words["items"][1:-1], count - 2) + words["items"][-1:]
    for index, item in enumerate(items, 1):
        s.paragraph(f"{index}. {item}", 11, bold=subs, after=6)
        if subs:
            for letter in "abc"[: w.rng.choice([1, 2, 3])]:
                s.paragraph(f"{letter}) {w.pick(words['items'])}. {w.pick(words['sub'])}", 10, x=s.margin + 24)
    return s


def agenda_short(w):
    return agenda(w, "times", w.rng.choice([6, 8]), False)


def agenda_deep(w):
    return agenda(w, "vera", w.rng.choice([9, 11]), True)


def minutes(w, font, headed, rounds):
    words, plan = MINUTES[w.language], AGENDA[w.language]
    s = Sheet(font, margin=62)
    body = w.pick(plan["body"])
    s.line(body, 12, True)
    s.line(w.pick(words["title"]), 17, True)
    s.line(f"{w.date(style='long')}, {plan['at']}", 10, after=12)
    s.paragraph(f"{words['here']}: {w.person()} ({words['chair']}), {w.person()}, {w.person()} ({words['took']})")
    s.paragraph(f"{words['away']}: {w.person()}")
    for turn in range(rounds):
        for index, (head, text) in enumerate(zip(plan["items"][1:6], words["did"][1:6]), 1):
            if headed:
                s.room(40)
                s.line(f"{turn * 5 + index}. {head}", 11, True)
            s.paragraph(" ".join([words["did"][0] if turn + index == 1 else "", text, w.pick(words["did"][2:6])]).strip(), after=8)
    s.paragraph(words["did"][6])
    s.gap(30)
    s.line(words["sign"], 9)
    s.footer = lambda sheet, page, pages: sheet.put(sheet.right, 815, f"{page}", 8, align="right")
    return s


def minutes_headed(w):
    return minutes(w, "vera", True, w.rng.choice([1, 2, 3]))


def minutes_prose(w):
    return minutes(w, "times", False, w.rng.choice([1, 3]))


TYPES = {"agenda": [agenda_short, agenda_deep], "minutes": [minutes_headed, minutes_prose]}
