"""Papers of running text that rules are written on: contracts, letters, reports, and what is none of all the types."""

from sheet import Sheet

CONTRACT = {
    "en": dict(title=["Service Agreement", "Employment Contract", "Rental Agreement", "Non-Disclosure Agreement"], between="This Agreement is made between {0} (hereinafter \"the Contractor\") and {1} (hereinafter \"the Client\").",
               whereas="WHEREAS the Client requires the services of the Contractor; NOW THEREFORE the parties agree as follows:",
               clauses=[("Scope of services", "The Contractor shall perform the services set out in Schedule 1 with due care."), ("Remuneration", "The Client shall pay the agreed remuneration within thirty days."),
                        ("Term and termination", "This Agreement shall commence on the date above and continue until terminated by either party in writing."),
                        ("Confidentiality", "Neither party shall disclose confidential information of the other party to third parties."),
                        ("Indemnity", "The Contractor shall indemnify the Client against claims of third parties."), ("Governing law", "This Agreement shall be governed by the laws of Examplia."),
                        ("Entire agreement", "This document constitutes the entire agreement between the parties and may be amended in writing only.")],
               sign="IN WITNESS WHEREOF the parties have executed this Agreement.", names=["The Contractor", "The Client"]),
    "es": dict(title=["Contrato de prestación de servicios", "Contrato de trabajo", "Contrato de arrendamiento", "Acuerdo de confidencialidad"],
               between="Entre {0} (en adelante, el Contratista) y {1} (en adelante, el Cliente) se celebra el presente contrato.",
               whereas="EXPONEN que el Cliente precisa los servicios del Contratista y acuerdan las siguientes CLÁUSULAS:",
               clauses=[("Objeto del contrato", "El Contratista prestará los servicios indicados con la debida diligencia."), ("Remuneración", "El Cliente pagará la remuneración acordada en treinta días."),
                        ("Duración y rescisión", "El presente contrato comenzará en la fecha indicada y podrá ser rescindido por cualquiera de las partes."),
                        ("Confidencialidad", "Ninguna de las partes revelará a terceros información confidencial."), ("Indemnización", "El Contratista indemnizará al Cliente frente a reclamaciones."),
                        ("Ley aplicable", "Este contrato se rige por la legislación de Ejemplia."), ("Integridad", "Este documento constituye el acuerdo completo entre las partes.")],
               sign="Las partes firman el presente contrato por duplicado.", names=["El Contratista", "El Cliente"]),
    "de": dict(title=["Dienstleistungsvertrag", "Arbeitsvertrag", "Kaufvertrag", "Geheimhaltungsvereinbarung"], between="Zwischen {0} (nachfolgend „Auftragnehmer“) und {1} (nachfolgend „Auftraggeber“) wird folgender Vertrag geschlossen:",
               whereas="Die Vertragsparteien vereinbaren Folgendes:",
               clauses=[("Vertragsgegenstand", "Der Auftragnehmer erbringt die in Anlage 1 genannten Leistungen mit der gebotenen Sorgfalt."), ("Vergütung", "Der Auftraggeber zahlt die vereinbarte Vergütung binnen dreißig Tagen."),
                        ("Vertragsdauer und Kündigung", "Der Vertrag beginnt am genannten Tag und kann von jeder Vertragspartei schriftlich gekündigt werden."),
                        ("Vertraulichkeit", "Keine Vertragspartei gibt vertrauliche Informationen an Dritte weiter."), ("Haftung", "Der Auftragnehmer stellt den Auftraggeber von Ansprüchen Dritter frei."),
                        ("Gerichtsstand", "Es gilt das Recht von Beispielland; Gerichtsstand ist Neuhafen."), ("Salvatorische Klausel", "Die Unwirksamkeit einer Klausel berührt die übrigen nicht. Nebenabreden bestehen nicht.")],
               sign="Unterschriften der Vertragsparteien", names=["Auftragnehmer", "Auftraggeber"]),
    "fr": dict(title=["Contrat de prestation de services", "Contrat de travail", "Contrat de location", "Accord de confidentialité"], between="Entre {0} (ci-après dénommé « le Prestataire ») et {1} (ci-après dénommé « le Client »), il a été convenu ce qui suit :",
               whereas="Les parties conviennent des clauses suivantes.",
               clauses=[("Objet du contrat", "Le Prestataire exécute les services énumérés avec tout le soin requis."), ("Prix", "Le Client paie le prix convenu dans les trente jours."),
                        ("Durée et résiliation", "Le présent contrat prend effet à la date indiquée et peut être résilié par chacune des parties."),
                        ("Confidentialité", "Aucune des parties ne divulgue à des tiers des informations confidentielles."), ("Garantie", "Le Prestataire garantit le Client contre toute réclamation."),
                        ("Droit applicable", "Le présent contrat est régi par le droit d'Exemple."), ("Intégralité", "Le présent document constitue l'intégralité de l'accord entre les parties.")],
               sign="Fait en double exemplaire, signatures des parties", names=["Le Prestataire", "Le Client"]),
}
LETTER = {
    "en": dict(re="Subject", subject=["Your order of last month", "Invitation to our open day", "Cancellation of the subscription", "Outstanding documents"], hello=["Dear Sir or Madam,", "Dear colleague,"],
               body=["Thank you for your letter of last week.", "We are pleased to inform you that your parcel has left our warehouse.", "Please let us know by Friday whether you can come.",
                     "I am writing to tell you that we will close for two weeks in August.", "Unfortunately we cannot grant your request at present.", "Please find enclosed the documents that you have asked for.",
                     "Do not hesitate to contact us should you have any questions.", "We look forward to hearing from you."], bye=["Yours sincerely,", "Best regards,", "Sincerely,"], enc="Enclosures"),
    "es": dict(re="Asunto", subject=["Su pedido del mes pasado", "Invitación a la jornada de puertas abiertas", "Cancelación de la suscripción", "Documentos pendientes"], hello=["Estimado señor:", "Estimada señora:", "Muy señor mío:"],
               body=["Le agradecemos su carta de la semana pasada.", "Nos complace comunicarle que su paquete ha salido de nuestro almacén.", "Le rogamos nos diga antes del viernes si puede venir.",
                     "Le escribo para informarle de que cerraremos dos semanas en agosto.", "Lamentablemente no podemos atender su petición.", "Adjunto le remitimos los documentos solicitados.",
                     "No dude en ponerse en contacto con nosotros.", "Quedamos a la espera de sus noticias."], bye=["Atentamente,", "Le saluda atentamente,", "Saludos cordiales,"], enc="Anexos"),
    "de": dict(re="Betreff", subject=["Ihre Bestellung vom letzten Monat", "Einladung zum Tag der offenen Tür", "Kündigung des Abonnements", "Fehlende Unterlagen"], hello=["Sehr geehrte Damen und Herren,", "Sehr geehrte Frau Beispiel,", "Liebe Kollegin,"],
               body=["vielen Dank für Ihr Schreiben von letzter Woche.", "Wir freuen uns, Ihnen mitteilen zu können, dass Ihr Paket unser Lager verlassen hat.", "Bitte teilen Sie uns bis Freitag mit, ob Sie kommen.",
                     "hiermit teile ich Ihnen mit, dass wir im August zwei Wochen schließen.", "Leider können wir Ihrer Bitte derzeit nicht entsprechen.", "Anbei erhalten Sie die gewünschten Unterlagen.",
                     "Für Rückfragen stehen wir Ihnen gern zur Verfügung.", "Wir freuen uns auf Ihre Antwort."], bye=["Mit freundlichen Grüßen", "Mit besten Grüßen"], enc="Anlagen"),
    "fr": dict(re="Objet", subject=["Votre commande du mois dernier", "Invitation à la journée portes ouvertes", "Résiliation de l'abonnement", "Pièces manquantes"], hello=["Madame, Monsieur,", "Cher Monsieur,"],
               body=["Nous vous remercions de votre lettre de la semaine dernière.", "Nous avons le plaisir de vous informer que votre colis a quitté notre entrepôt.", "Merci de nous dire avant vendredi si vous pouvez venir.",
                     "Je vous écris pour vous informer que nous fermerons deux semaines en août.", "Nous ne pouvons malheureusement pas donner suite à votre demande.", "Veuillez trouver ci-joint les documents demandés.",
                     "N'hésitez pas à nous contacter.", "Dans l'attente de votre réponse."], bye=["Veuillez agréer, Madame, Monsieur, nos salutations distinguées.", "Cordialement,", "Je vous prie d'agréer mes sincères salutations."], enc="Pièces jointes"),
}
REPORT = {
    "en": dict(title=["Annual Report", "Technical Report on Road Noise", "Quarterly Report", "Feasibility Study: Tram Line 4"], heads=["Abstract", "Introduction", "Methodology", "Results", "Analysis", "Conclusion", "Bibliography"],
               body=["This report examines the development of traffic between the two counts.", "Measurements were taken at twelve points over four weeks.", "Table {0} summarises the results by district.",
                     "Compared with the previous year, revenue increased by 4.2 per cent.", "The findings suggest that the noise depends mostly on the surface.", "Further research is needed before a decision is taken."],
               contents="Table of contents", fig="Figure", tab="Table", cols=["Indicator", "Before", "After"]),
    "es": dict(title=["Informe anual", "Informe técnico sobre el ruido", "Memoria de actividades", "Estudio de viabilidad: línea 4"], heads=["Resumen ejecutivo", "Introducción", "Metodología", "Resultados", "Análisis", "Conclusiones", "Bibliografía"],
               body=["El presente informe examina la evolución del tráfico entre los dos recuentos.", "Se midió en doce puntos durante cuatro semanas.", "La Tabla {0} resume los resultados por distrito.",
                     "En comparación con el año anterior, los ingresos aumentaron un 4,2 por ciento.", "Los resultados indican que el ruido depende sobre todo del firme.", "Se precisan más estudios antes de decidir."],
               contents="Índice", fig="Figura", tab="Tabla", cols=["Indicador", "Antes", "Después"]),
    "de": dict(title=["Jahresbericht", "Technischer Bericht zum Straßenlärm", "Quartalsbericht", "Machbarkeitsstudie: Linie 4"], heads=["Zusammenfassung", "Einleitung", "Methodik", "Ergebnisse", "Auswertung", "Schlussfolgerung", "Literaturverzeichnis"],
               body=["Dieser Bericht untersucht die Entwicklung des Verkehrs zwischen den beiden Zählungen.", "Gemessen wurde an zwölf Punkten über vier Wochen.", "Tabelle {0} fasst die Ergebnisse nach Bezirken zusammen.",
                     "Im Vergleich zum Vorjahr stieg der Umsatz um 4,2 Prozent.", "Die Ergebnisse zeigen, dass der Lärm vor allem vom Belag abhängt.", "Vor einer Entscheidung sind weitere Untersuchungen nötig."],
               contents="Inhaltsverzeichnis", fig="Abbildung", tab="Tabelle", cols=["Kennzahl", "Vorher", "Nachher"]),
    "fr": dict(title=["Rapport annuel", "Rapport technique sur le bruit routier", "Rapport d'activité", "Étude de faisabilité : ligne 4"], heads=["Synthèse", "Introduction", "Méthodologie", "Résultats", "Analyse", "Conclusion", "Bibliographie"],
               body=["Le présent rapport examine l'évolution du trafic entre les deux comptages.", "Les mesures ont été faites en douze points durant quatre semaines.", "Le tableau {0} résume les résultats par quartier.",
                     "Par rapport à l'année précédente, les recettes ont augmenté de 4,2 pour cent.", "Les résultats montrent que le bruit dépend surtout du revêtement.", "D'autres études sont nécessaires avant toute décision."],
               contents="Table des matières", fig="Figure", tab="Tableau", cols=["Indicateur", "Avant", "Après"]),
}
OTHER = {
    "en": dict(flyer=["Summer fair", "Saturday, music and games for all", "Free entry, come and see!"], verse=["The wind goes over the hill,", "the mill stands still,", "and nobody asks the wheel", "how it would feel."],
               manual="Quick start", steps=["Plug the cable into the socket.", "Press the green button for three seconds.", "Wait until the lamp stops blinking.", "Clean the filter once a month."]),
    "es": dict(flyer=["Feria de verano", "Sábado, música y juegos para todos", "¡Entrada libre, ven a verlo!"], verse=["El viento pasa la colina,", "el molino no camina,", "y nadie pregunta a la rueda", "si sueña o si queda."],
               manual="Guía rápida", steps=["Enchufe el cable.", "Pulse el botón verde tres segundos.", "Espere a que la luz deje de parpadear.", "Limpie el filtro una vez al mes."]),
    "de": dict(flyer=["Sommerfest", "Samstag, Musik und Spiele für alle", "Eintritt frei, kommt vorbei!"], verse=["Der Wind geht über den Hügel,", "die Mühle hebt keinen Flügel,", "und niemand fragt das Rad,", "was es zu sagen hat."],
               manual="Kurzanleitung", steps=["Stecken Sie das Kabel ein.", "Drücken Sie drei Sekunden die grüne Taste.", "Warten Sie, bis die Lampe nicht mehr blinkt.", "Reinigen Sie den Filter einmal im Monat."]),
    "fr": dict(flyer=["Fête d'été", "Samedi, musique et jeux pour tous", "Entrée libre, venez nombreux !"], verse=["Le vent passe la colline,", "le moulin s'incline,", "et nul ne demande à la roue", "ce qu'elle avoue."],
               manual="Prise en main", steps=["Branchez le câble.", "Appuyez trois secondes sur le bouton vert.", "Attendez que le voyant cesse de clignoter.", "Nettoyez le filtre une fois par mois."]),
}


def contract(w, font, whereas, paragraph_mark):
    words = CONTRACT[w.language]
    s = Sheet(font, margin=64)
    s.line(w.pick(words["title"]).upper(), 15, True, "center", after=14)
    s.paragraph(words["between"].format(f"{w.company}, {', '.join(w.address())}", f"{w.client}, {', '.join(w.address())}"))
    if whereas:
        s.paragraph(words["whereas"])
    for index, (head, text) in enumerate(words["clauses"], 1):
        s.room(46)
        s.gap(4)
        s.line(f"§ {index} {head}" if paragraph_mark and w.language == "de" else f"{index}. {head}", 11, True)
        for part in range(w.rng.choice([1, 2, 5])):
            s.paragraph(f"{index}.{part + 1} {text}")
    s.room(100)
    s.paragraph(words["sign"])
    s.gap(36)
    y = s.y
    for x, name in zip((s.margin, s.right - 160), words["names"]):
        s.y = y
        s.line("_" * 24, 10, x=x, after=2)
        s.line(name, 9, x=x)
    s.footer = lambda sheet, page, pages: sheet.put(sheet.right, 815, f"{page} / {pages}", 8, align="right")
    return s


def contract_classic(w):
    return contract(w, "helvetica", True, True)


def contract_typed(w):
    return contract(w, "courier", w.rng.random() < 0.5, False)


def letter(w, font, length, sender_first):
    words = LETTER[w.language]
    s = Sheet(font, margin=70)
    if sender_first:
        s.lines([w.company, *w.address()], align="right", after=3)
        s.gap(16)
    s.lines([w.client, *w.address()])
    s.gap(16)
    s.line(w.date(style="long"), align="right")
    s.gap(10)
    s.line(f"{words['re']}: {w.pick(words['subject'])}", 10, True, after=14)
    s.line(w.pick(words["hello"]), after=8)
    for _ in range(length):
        s.paragraph(" ".join(w.some(words["body"], 3)), after=9)
    s.room(100)
    s.line(w.pick(words["bye"]), after=36)
    s.line(w.person())
    if w.rng.random() < 0.3:
        s.line(words["enc"], 8)
    return s


def letter_classic(w):
    return letter(w, "helvetica", w.rng.choice([2, 3]), True)


def letter_typed(w):
    return letter(w, "courier", w.rng.choice([2, 3, 14]), w.rng.random() < 0.5)


def report(w, font, contents):
    words = REPORT[w.language]
    s = Sheet(font)
    title = f"{w.pick(words['title'])} {w.day.year}"
    s.paragraph(title, 20, True)
    s.line(w.company, 11, after=14)
    if contents:
        s.line(words["contents"], 14, True)
        for index, head in enumerate(words["heads"], 1):
            s.line(f"{index} {head} {'.' * 60} {index * 2}", 10)
        s.new_page()
    for index, head in enumerate(words["heads"], 1):
        s.room(60)
        s.line(f"{index} {head}", 13, True)
        for _ in range(w.rng.choice([1, 3, 5])):
            s.paragraph(" ".join(w.some(words["body"], 4)).format(w.rng.randrange(1, 4)), after=8)
        if index == 4:
            s.table([(column, 140, "left") for column in words["cols"]], [[w.client.split()[0], w.digits(3), w.digits(3)] for _ in range(4)], looks="lines")
            s.line(f"{words['tab']} 1: {words['heads'][3]}", 9)
    s.header = lambda sheet, page, pages: page > 1 and sheet.put(sheet.right, 36, title, 8, align="right")
    s.footer = lambda sheet, page, pages: sheet.put(sheet.width / 2, 818, str(page), 8, align="center")
    return s


def report_contents(w):
    return report(w, "helvetica", True)


def report_typed(w):
    return report(w, "courier", False)


def other_flyer(w):
    s = Sheet("helvetica")
    s.gap(120)
    for size, text in zip((36, 18, 16), OTHER[w.language]["flyer"]):
        s.line(text, size, size > 20, "center", after=30)
    return s


def other_verse(w):
    s = Sheet("courier", margin=120)
    for _ in range(w.rng.choice([3, 6])):
        s.lines(OTHER[w.language]["verse"], size=11)
        s.gap(14)
    return s


def other_manual(w):
    words = OTHER[w.language]
    s = Sheet("helvetica")
    s.line(words["manual"], 18, True, after=12)
    s.bullets([f"{step}" for step in words["steps"] * 2], size=11, after=6)
    return s


def other_blank(w):
    return Sheet("helvetica")


TYPES = {
    "contract": [contract_classic, contract_typed],
    "letter": [letter_classic, letter_typed],
    "report": [report_contents, report_typed],
    "other": [other_flyer, other_verse, other_manual, other_blank],
}
