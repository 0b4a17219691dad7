"""Papers of meetings that rules are written on."""

from sheet import LETTER, Sheet

AGENDA = {
    "en": dict(title=["AGENDA", "Meeting Agenda", "City Council Agenda"], body=["City Council", "Planning Commission", "School Board"], at="City Hall, 7:00 p.m.",
               items=["Call to Order", "Roll Call", "Pledge of Allegiance", "Approval of Minutes", "Public Comment", "Consent Calendar", "Public Hearing", "Old Business", "New Business",
                      "Ordinance amending the zoning code", "Adjournment"], sub=["Recommended action: approve", "Presenter: finance director", "15 minutes"]),
    "es": dict(title=["ORDEN DEL DÍA", "Orden del día de la reunión", "Agenda de la reunión"], body=["Ayuntamiento", "Comunidad de propietarios", "Consejo escolar"], at="Casa consistorial, 19:00 horas",
               items=["Lista de asistencia", "Lectura y aprobación del acta anterior", "Informe de la presidencia", "Audiencia pública", "Asuntos pendientes", "Asuntos nuevos",
                      "Presupuesto del año", "Elección de cargos", "Ruegos y preguntas", "Clausura"], sub=["Acción propuesta: aprobar", "Ponente: tesorería", "15 minutos"]),
    "de": dict(title=["TAGESORDNUNG", "Tagesordnung der Sitzung", "Einladung zur Mitgliederversammlung"], body=["Stadtrat", "Eigentümergemeinschaft", "Schulkonferenz"], at="Rathaus, 19:00 Uhr",
               items=["Begrüßung", "Feststellung der Anwesenheit", "Genehmigung des Protokolls", "Bericht des Vorstands", "Bürgerfragestunde", "Haushalt", "Wahlen", "Anträge",
                      "Sonstiges", "Schließung der Sitzung"], sub=["Beschlussvorschlag: Zustimmung", "Vortrag: Kämmerei", "15 Minuten"]),
    "fr": dict(title=["ORDRE DU JOUR", "Ordre du jour de la réunion", "Ordre du jour de l'assemblée générale"], body=["Conseil municipal", "Copropriété", "Conseil d'école"], at="Hôtel de ville, 19 heures",
               items=["Appel nominal", "Approbation du procès-verbal", "Rapport moral", "Audience publique", "Budget primitif", "Élections", "Points divers", "Affaires nouvelles",
                      "Questions diverses", "Levée de la séance"], sub=["Proposition : approuver", "Rapporteur : finances", "15 minutes"]),
}
MINUTES = {
    "en": dict(title=["MINUTES", "Meeting Minutes", "Minutes of the Meeting"], here="Present", away="Absent",
               did=["The meeting was called to order at 7:02 p.m.", "The minutes of the previous meeting were approved.", "Motion by the vice chair, seconded by a member. Motion carried 5-0.",
                    "The director gave an update on the budget.", "Ayes: 4. Nays: 1. Abstentions: none.", "The meeting adjourned at 8:45 p.m."], sign="Respectfully submitted, the secretary"),
    "es": dict(title=["ACTA", "Acta de la reunión", "Acta de reunión"], here="Asistentes", away="Ausentes",
               did=["Se inicia la sesión a las 19:02 horas.", "Se aprobó el acta de la reunión anterior.", "Sometida a votación, la propuesta se aprueba por mayoría.",
                    "La dirección informó sobre el presupuesto.", "Votos a favor: 4. En contra: 1. Abstenciones: 0.", "Se levanta la sesión a las 20:45 horas."], sign="El secretario"),
    "de": dict(title=["PROTOKOLL", "Protokoll der Sitzung", "Ergebnisprotokoll"], here="Anwesende", away="Abwesend",
               did=["Die Sitzung beginnt um 19:02 Uhr.", "Das Protokoll der letzten Sitzung wird genehmigt.", "Der Antrag wird mit Stimmenmehrheit angenommen.",
                    "Die Leitung berichtet über den Haushalt.", "Abstimmung: 4 Ja-Stimmen, 1 Nein-Stimme, keine Enthaltung.", "Die Sitzung endet um 20:45 Uhr."], sign="Protokollführung"),
    "fr": dict(title=["PROCÈS-VERBAL", "Compte rendu de réunion", "Procès-verbal de l'assemblée générale"], here="Étaient présents", away="Absents",
               did=["La séance est ouverte à 19 h 02.", "Le procès-verbal de la réunion précédente est adopté.", "Mise aux voix, la proposition est adoptée à la majorité.",
                    "La direction présente le point sur le budget.", "Pour : 4. Contre : 1. Abstention : 0.", "La séance est levée à 20 h 45."], sign="Le secrétaire de séance"),
}


def agenda_numbered(w):
    words = AGENDA[w.language]
    s = Sheet("helvetica", LETTER if w.language == "en" else (595, 842))
    s.line(w.pick(words["title"]), 18, True, "center")
    s.line(w.pick(words["body"]), 12, align="center")
    s.line(f"{w.date(style='long')} - {words['at']}", 10, align="center", after=16)
    for index, item in enumerate(words["items"], 1):
        s.paragraph(f"{index}. {item}", 11, after=8)
    return s


def agenda_long(w):
    """With sub-items over several pages."""
    words = AGENDA[w.language]
    s = Sheet("courier", margin=60)
    s.line(w.pick(words["body"]), 14, True)
    s.line(w.pick(words["title"]), 14, True)
    s.line(f"{w.date(style='long')} - {words['at']}", 9, after=16)
    for index, item in enumerate(words["items"]):
        s.paragraph(f"{'ABCDEFGHIJKL'[index]}. {item.upper()}", 10, True, after=6)
        for number in range(1, w.rng.choice([2, 3, 6])):
            s.paragraph(f"{number}. {w.pick(words['items'])} - {w.pick(words['sub'])}", 9, x=s.margin + 24)
    return s


def minutes(w, font, headed, rounds):
    words, plan = MINUTES[w.language], AGENDA[w.language]
    s = Sheet(font)
    s.line(w.pick(words["title"]), 17, True)
    s.line(f"{w.pick(plan['body'])}, {w.date(style='long')}", 10, after=10)
    s.paragraph(f"{words['here']}: {w.person()}, {w.person()}, {w.person()}")
    s.paragraph(f"{words['away']}: {w.person()}")
    s.paragraph(words["did"][0])
    for turn in range(rounds):
        for index, head in enumerate(plan["items"][2:8], 1):
            if headed:
                s.room(40)
                s.line(f"{turn * 6 + index}. {head}", 11, True)
            s.paragraph(" ".join(w.some(words["did"][1:5], w.rng.choice([1, 2, 3]))), after=8)
    s.paragraph(words["did"][5])
    s.gap(24)
    s.line(words["sign"], 9)
    return s


def minutes_headed(w):
    return minutes(w, "helvetica", True, w.rng.choice([1, 2, 4]))


def minutes_typed(w):
    return minutes(w, "courier", False, w.rng.choice([1, 2, 4]))


TYPES = {"agenda": [agenda_numbered, agenda_long], "minutes": [minutes_headed, minutes_typed]}
