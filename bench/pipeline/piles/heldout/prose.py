"""Held-out papers of running text: contracts, letters, reports, and what is none of all the types. No rule was written on these."""

from sheet import A4, Sheet

CONTRACT = {
    "en": dict(title=["Lease Agreement", "Consultancy Contract", "Agreement for the Supply of Goods"], between="This agreement is entered into on {0} by and between", and_="and",
               called="(the \"Provider\")", other="(the \"Customer\")", word="Article",
               clauses=[("Subject matter", "The Provider undertakes to render the services described in the annex. Changes require the written consent of both parties."),
                        ("Fees", "The Customer shall pay a monthly fee. Fees fall due on the third working day of each month."),
                        ("Duration", "This agreement enters into force on signature and runs for an initial period of two years."),
                        ("Notice", "Either party may terminate the agreement with three months' notice to the end of a quarter."),
                        ("Secrecy", "The parties shall keep secret all information that becomes known to them in the course of the work."),
                        ("Liability", "The Provider is liable for damage caused by gross negligence only. Liability for loss of profit is excluded."),
                        ("Applicable law", "The courts of the registered seat of the Provider shall have jurisdiction."),
                        ("Final provisions", "Should a provision be invalid, the remaining provisions stay in force.")],
               sign="Signed by the parties on the date stated above", names=["For the Provider", "For the Customer"]),
    "es": dict(title=["Contrato de alquiler de vivienda", "Contrato de suministro", "Contrato de colaboración"], between="En {0}, reunidos de una parte", and_="y de otra",
               called="(en lo sucesivo, el Proveedor)", other="(en lo sucesivo, el Cliente)", word="Estipulación",
               clauses=[("Objeto", "El Proveedor se obliga a prestar los servicios descritos en el anexo. Toda modificación requiere acuerdo escrito de ambas partes."),
                        ("Precio", "El Cliente abonará una cuota mensual dentro de los tres primeros días hábiles de cada mes."),
                        ("Vigencia", "El presente acuerdo entra en vigor con su firma y tendrá una duración inicial de dos años."),
                        ("Resolución", "Cualquiera de las partes podrá resolverlo con tres meses de preaviso."),
                        ("Secreto", "Las partes guardarán secreto sobre toda información conocida en el curso de los trabajos."),
                        ("Responsabilidad", "El Proveedor responde únicamente de los daños causados por dolo o culpa grave."),
                        ("Fuero", "Las partes se someten a los juzgados y tribunales del domicilio del Proveedor."),
                        ("Disposiciones finales", "La nulidad de una estipulación no afecta a las restantes.")],
               sign="Y en prueba de conformidad firman ambas partes", names=["Por el Proveedor", "Por el Cliente"]),
    "de": dict(title=["Mietvertrag", "Werkvertrag", "Liefervertrag"], between="geschlossen am {0} zwischen", and_="und",
               called="- im Folgenden Auftragnehmer -", other="- im Folgenden Auftraggeber -", word="§",
               clauses=[("Gegenstand", "Der Auftragnehmer verpflichtet sich, die in der Anlage beschriebenen Leistungen zu erbringen. Änderungen bedürfen der Schriftform."),
                        ("Entgelt", "Der Auftraggeber zahlt ein monatliches Entgelt, fällig zum dritten Werktag eines Monats."),
                        ("Laufzeit", "Der Vertrag tritt mit Unterzeichnung in Kraft und läuft zunächst zwei Jahre."),
                        ("Kündigung", "Jede Partei kann mit einer Frist von drei Monaten zum Quartalsende kündigen."),
                        ("Verschwiegenheit", "Die Parteien bewahren über alle Informationen Stillschweigen, die ihnen bei der Arbeit bekannt werden."),
                        ("Haftung", "Der Auftragnehmer haftet nur für Vorsatz und grobe Fahrlässigkeit."),
                        ("Erfüllungsort", "Erfüllungsort und Gerichtsstand ist der Sitz des Auftragnehmers."),
                        ("Schlussbestimmungen", "Sollte eine Bestimmung unwirksam sein, bleiben die übrigen wirksam.")],
               sign="Ort, Datum, Unterschriften der Vertragsparteien", names=["Auftragnehmer", "Auftraggeber"]),
    "fr": dict(title=["Bail d'habitation", "Contrat d'entreprise", "Contrat de fourniture"], between="Conclu le {0} entre les soussignés :", and_="et",
               called="(ci-après « le Fournisseur »)", other="(ci-après « le Preneur »)", word="Article",
               clauses=[("Objet", "Le Fournisseur s'engage à réaliser les prestations décrites en annexe. Toute modification suppose l'accord écrit des parties."),
                        ("Rémunération", "Le Preneur verse une redevance mensuelle, exigible le troisième jour ouvrable du mois."),
                        ("Entrée en vigueur", "Le présent acte prend effet à sa signature pour une durée initiale de deux ans."),
                        ("Dénonciation", "Chacune des parties peut y mettre fin moyennant un préavis de trois mois."),
                        ("Discrétion", "Les parties s'obligent à garder secrètes les informations connues au cours des travaux."),
                        ("Responsabilité", "Le Fournisseur ne répond que de sa faute lourde."),
                        ("Litiges", "Tout litige sera porté devant les tribunaux du siège du Fournisseur."),
                        ("Dispositions finales", "La nullité d'une clause n'entraîne pas celle des autres.")],
               sign="Fait en deux exemplaires originaux", names=["Le Fournisseur", "Le Preneur"]),
}
LETTER = {
    "en": dict(re="Regarding", subject=["Your enquiry of last week", "Change of our opening hours", "Repair of the heating"], hello=["Dear customer,", "Dear neighbours,", "To whom it may concern,"],
               body=["Many thanks for your message, which reached us on Monday.", "We are sorry that the work took longer than planned and apologise for the noise.",
                     "From next month our counter opens at nine in the morning and closes at five.", "Our technician will call on you on Thursday; nothing needs to be prepared.",
                     "If the date does not suit you, a short call is enough.", "We would be glad to welcome you in our new rooms.",
                     "The building was finished in spring, and the old warehouse will be given up at the end of the year."],
               bye=["Kind regards,", "Yours faithfully,", "With best wishes,"], role="Customer service", enc="Enclosure"),
    "es": dict(re="Ref.", subject=["Su consulta de la semana pasada", "Cambio de horario", "Reparación de la calefacción"], hello=["Apreciado cliente:", "Estimados vecinos:", "Muy señores míos:"],
               body=["Muchas gracias por su mensaje, que recibimos el lunes.", "Lamentamos que la obra haya durado más de lo previsto y pedimos disculpas por el ruido.",
                     "A partir del mes próximo abriremos a las nueve y cerraremos a las cinco.", "Nuestro técnico pasará por su casa el jueves; no hace falta preparar nada.",
                     "Si la fecha no le conviene, basta con una llamada.", "Nos encantará recibirle en nuestras nuevas oficinas.",
                     "El edificio se terminó en primavera y el antiguo almacén se dejará a finales de año."],
               bye=["Reciba un cordial saludo,", "Cordialmente,", "Un saludo,"], role="Atención al cliente", enc="Adjunto"),
    "de": dict(re="Ihr Zeichen", subject=["Ihre Anfrage von letzter Woche", "Neue Öffnungszeiten", "Reparatur der Heizung"], hello=["Sehr geehrte Kundin, sehr geehrter Kunde,", "Liebe Nachbarn,", "Guten Tag,"],
               body=["vielen Dank für Ihre Nachricht, die uns am Montag erreicht hat.", "Wir bedauern, dass die Arbeiten länger gedauert haben, und entschuldigen uns für den Lärm.",
                     "Ab nächstem Monat öffnen wir um neun und schließen um fünf Uhr.", "Unser Techniker kommt am Donnerstag zu Ihnen; vorzubereiten ist nichts.",
                     "Passt Ihnen der Termin nicht, genügt ein kurzer Anruf.", "Gern begrüßen wir Sie in unseren neuen Räumen.",
                     "Das Gebäude wurde im Frühjahr fertig, das alte Lager wird zum Jahresende aufgegeben."],
               bye=["Freundliche Grüße", "Beste Grüße", "Hochachtungsvoll"], role="Kundendienst", enc="Anlage"),
    "fr": dict(re="Réf.", subject=["Votre demande de la semaine passée", "Nouveaux horaires", "Réparation du chauffage"], hello=["Chère cliente, cher client,", "Chers voisins,", "Monsieur,"],
               body=["Nous vous remercions de votre message, reçu lundi.", "Nous regrettons que les travaux aient duré plus longtemps et vous prions d'excuser le bruit.",
                     "Dès le mois prochain, notre guichet ouvrira à neuf heures et fermera à dix-sept heures.", "Notre technicien passera chez vous jeudi ; rien n'est à préparer.",
                     "Si la date ne vous convient pas, un appel suffit.", "Nous serons heureux de vous accueillir dans nos nouveaux locaux.",
                     "Le bâtiment a été achevé au printemps et l'ancien dépôt sera quitté à la fin de l'année."],
               bye=["Bien à vous,", "Recevez, Monsieur, l'expression de nos sentiments distingués.", "Meilleures salutations,"], role="Service clients", enc="P.J."),
}
REPORT = {
    "en": dict(title=["Progress Report on the Water Network", "Survey of Small Shops: Findings", "Environmental Assessment Report"], by="Prepared for the board by the research office",
               heads=["Executive summary", "Background", "Approach", "Findings", "Discussion", "Conclusions and recommendations", "References"],
               body=["The network lost 14 per cent of its water in the year under review, against 17 per cent in the year before.",
                     "Interviews were held with 120 households; the answers were weighted by district.", "As Figure {0} shows, losses fall most where pipes were replaced first.",
                     "The data do not allow a statement about the eastern district, where meters were changed.", "We recommend that the programme be continued at the present pace.",
                     "Costs per metre rose by six per cent, mostly because of higher prices of steel."], fig="Figure", tab="Table", cols=["District", "2021", "2022", "Change"]),
    "es": dict(title=["Informe de avance sobre la red de agua", "Estudio del pequeño comercio: resultados", "Informe de evaluación ambiental"], by="Elaborado por la oficina de estudios",
               heads=["Resumen", "Antecedentes", "Planteamiento", "Hallazgos", "Discusión", "Conclusiones y recomendaciones", "Referencias"],
               body=["La red perdió el 14 por ciento del agua en el año analizado, frente al 17 por ciento del anterior.",
                     "Se entrevistó a 120 hogares; las respuestas se ponderaron por distrito.", "Como muestra la Figura {0}, las pérdidas bajan más donde antes se cambiaron las tuberías.",
                     "Los datos no permiten afirmar nada sobre el distrito este.", "Se recomienda continuar el programa al ritmo actual.",
                     "El coste por metro subió un seis por ciento, sobre todo por el precio del acero."], fig="Figura", tab="Tabla", cols=["Distrito", "2021", "2022", "Variación"]),
    "de": dict(title=["Zwischenbericht zum Wassernetz", "Studie zum Einzelhandel: Ergebnisse", "Umweltbericht"], by="Erstellt vom Referat Forschung",
               heads=["Kurzfassung", "Hintergrund", "Vorgehen", "Befunde", "Diskussion", "Fazit und Empfehlungen", "Quellen"],
               body=["Das Netz verlor im Berichtsjahr 14 Prozent seines Wassers gegenüber 17 Prozent im Vorjahr.",
                     "Befragt wurden 120 Haushalte; die Antworten wurden nach Bezirken gewichtet.", "Wie Abbildung {0} zeigt, sinken die Verluste dort am stärksten, wo zuerst erneuert wurde.",
                     "Für den östlichen Bezirk lassen die Daten keine Aussage zu.", "Es wird empfohlen, das Programm im bisherigen Umfang fortzuführen.",
                     "Die Kosten je Meter stiegen um sechs Prozent, vor allem wegen der Stahlpreise."], fig="Abbildung", tab="Tabelle", cols=["Bezirk", "2021", "2022", "Änderung"]),
    "fr": dict(title=["Rapport d'avancement sur le réseau d'eau", "Étude du petit commerce : résultats", "Rapport d'évaluation environnementale"], by="Établi par le bureau d'études",
               heads=["Résumé", "Contexte", "Démarche", "Constats", "Discussion", "Conclusions et recommandations", "Références"],
               body=["Le réseau a perdu 14 pour cent de son eau durant l'exercice, contre 17 pour cent l'année précédente.",
                     "120 ménages ont été interrogés ; les réponses ont été pondérées par quartier.", "Comme le montre la figure {0}, les pertes baissent surtout là où l'on a d'abord remplacé.",
                     "Les données ne permettent pas de conclure pour le quartier est.", "Il est recommandé de poursuivre le programme au rythme actuel.",
                     "Le coût au mètre a augmenté de six pour cent, surtout à cause de l'acier."], fig="Figure", tab="Tableau", cols=["Quartier", "2021", "2022", "Évolution"]),
}
OTHER = {
    "en": dict(recipe="Onion soup", steps=["Slice the onions and fry them slowly in butter.", "Add flour, stir, and pour in the broth.", "Simmer for half an hour and season with pepper."],
               parts=["6 onions", "50 g butter", "1 l broth", "2 slices of bread"], story=["The lake lay still that morning, and the boats had not yet come in.",
               "She put the lantern on the sill, as her mother had done, and waited.", "Nobody in the village spoke of the winter when the ice broke."],
               menu="Menu of the week", dishes=["Tomato soup", "Baked trout", "Apple cake", "Bean stew"], keep="This page intentionally left blank"),
    "es": dict(recipe="Sopa de cebolla", steps=["Corte las cebollas y sofríalas despacio en mantequilla.", "Añada harina, remueva y vierta el caldo.", "Cueza media hora y sazone con pimienta."],
               parts=["6 cebollas", "50 g de mantequilla", "1 l de caldo", "2 rebanadas de pan"], story=["El lago estaba quieto aquella mañana y las barcas aún no habían vuelto.",
               "Puso el farol en la ventana, como hacía su madre, y esperó.", "Nadie en el pueblo hablaba del invierno en que se rompió el hielo."],
               menu="Menú de la semana", dishes=["Sopa de tomate", "Trucha al horno", "Tarta de manzana", "Guiso de alubias"], keep="Página dejada en blanco intencionadamente"),
    "de": dict(recipe="Zwiebelsuppe", steps=["Die Zwiebeln in Ringe schneiden und langsam in Butter braten.", "Mehl zugeben, rühren und mit Brühe ablöschen.", "Eine halbe Stunde köcheln und mit Pfeffer würzen."],
               parts=["6 Zwiebeln", "50 g Butter", "1 l Brühe", "2 Scheiben Brot"], story=["Der See lag an diesem Morgen still, und die Boote waren noch nicht zurück.",
               "Sie stellte die Laterne ins Fenster, wie ihre Mutter es getan hatte, und wartete.", "Niemand im Dorf sprach von dem Winter, in dem das Eis brach."],
               menu="Speisekarte der Woche", dishes=["Tomatensuppe", "Forelle aus dem Ofen", "Apfelkuchen", "Bohneneintopf"], keep="Diese Seite bleibt absichtlich leer"),
    "fr": dict(recipe="Soupe à l'oignon", steps=["Émincer les oignons et les faire revenir doucement au beurre.", "Ajouter la farine, remuer et verser le bouillon.", "Laisser mijoter une demi-heure et poivrer."],
               parts=["6 oignons", "50 g de beurre", "1 l de bouillon", "2 tranches de pain"], story=["Le lac était calme ce matin-là et les barques n'étaient pas encore rentrées.",
               "Elle posa la lanterne à la fenêtre, comme faisait sa mère, et attendit.", "Personne au village ne parlait de l'hiver où la glace avait cédé."],
               menu="Menu de la semaine", dishes=["Soupe de tomates", "Truite au four", "Tarte aux pommes", "Ragoût de haricots"], keep="Page laissée blanche intentionnellement"),
}


def contract(w, font, numbered):
    words = CONTRACT[w.language]
    s = Sheet(font, margin=68)
    s.line(w.pick(words["title"]), 17, True, "center", after=16)
    s.paragraph(words["between"].format(w.date(style="long")))
    s.paragraph(f"{w.company}, {', '.join(w.address())} {words['called']}")
    s.line(words["and_"], align="center")
    s.paragraph(f"{w.client}, {', '.join(w.address())} {words['other']}")
    s.gap(8)
    for index, (head, text) in enumerate(words["clauses"], 1):
        s.room(50)
        label = f"{words['word']} {index}" if numbered == "word" else f"{index}."
        s.line(f"{label} {head}", 11, True, "center" if numbered == "word" else "left")
        for part in range(w.rng.choice([1, 2, 4])):
            s.paragraph(f"({part + 1}) {text}" if numbered == "word" else f"{index}.{part + 1} {text}")
        s.gap(4)
    s.room(110)
    s.paragraph(words["sign"])
    s.gap(40)
    y = s.y
    for x, name in zip((s.margin, s.right - 180), words["names"]):
        s.y = y
        s.rule(x, x + 180)
        s.line(name, 9, x=x)
    s.footer = lambda sheet, page, pages: sheet.put(sheet.width / 2, 815, f"- {page} -" if numbered == "word" else f"{page} | {pages}", 8, align="center")
    return s


def contract_articles(w):
    return contract(w, "times", "word")


def contract_numbers(w):
    return contract(w, "vera", "number")


def letter(w, font, right_date, length):
    words = LETTER[w.language]
    s = Sheet(font, A4, margin=72)
    s.line(w.company, 13, True, "right" if right_date else "left")
    s.line(" · ".join([*w.address(), w.mail()]), 8, align="right" if right_date else "left")
    s.gap(34)
    s.lines([w.client, *w.address()])
    s.gap(20)
    s.line(f"{w.address()[1].split(' ', 1)[-1]}, {w.date(style='long')}", align="right" if right_date else "left")
    s.gap(16)
    s.line((f"{words['re']}: " if w.rng.random() < 0.5 else "") + w.pick(words["subject"]), 11, True, after=14)
    s.line(w.pick(words["hello"]), after=8)
    for _ in range(length):
        s.paragraph(" ".join(w.some(words["body"], w.rng.choice([2, 3, 4]))), 11, after=10)
    s.room(120)
    s.line(w.pick(words["bye"]), 11, after=40)
    s.line(w.company)
    s.line(words["role"], 9)
    if w.rng.random() < 0.4:
        s.line(f"{words['enc']}: 1", 8)
    if len(s.pages) > 1:
        s.footer = lambda sheet, page, pages: sheet.put(sheet.right, 815, f"{page}/{pages}", 8, align="right")
    return s


def letter_short(w):
    return letter(w, "vera", True, w.rng.choice([2, 3]))


def letter_long(w):
    return letter(w, "times", False, w.rng.choice([3, 4, 12]))


def report(w, font, cover, numbered):
    words = REPORT[w.language]
    s = Sheet(font, margin=64)
    title = w.pick(words["title"])
    if cover:
        s.gap(220)
        s.paragraph(title, 24, True)
        s.line(words["by"], 12, after=12)
        s.line(w.month(), 12)
        s.new_page()
    else:
        s.paragraph(title, 19, True)
        s.line(f"{words['by']}, {w.month()}", 10, after=14)
    for index, head in enumerate(words["heads"], 1):
        s.room(70)
        s.gap(8)
        s.line(f"{index}. {head}" if numbered else head, 14, True)
        for _ in range(w.rng.choice([1, 2, 4])):
            s.paragraph(" ".join(w.some(words["body"], 4)).format(w.rng.randrange(1, 5)), after=8)
        if index == 4:
            s.line(f"{words['tab']} 1", 9)
            s.table([(title, 90, "left") for title in words["cols"]], [[f"{name}", w.digits(2), w.digits(2), f"{w.digits(1)} %"] for name in "ABCD"], looks="grid")
            s.box(s.margin, s.y, s.margin + 200, s.y + 80, 0.85)
            s.gap(84)
            s.line(f"{words['fig']} 1", 9)

    def running(sheet, page, pages):
        if page > 1:
            sheet.put(sheet.margin, 40, title, 8)
        sheet.put(sheet.right, 815, str(page), 8, align="right")

    s.header = running
    return s


def report_cover(w):
    return report(w, "vera", True, True)


def report_plain(w):
    return report(w, "times", False, w.rng.random() < 0.5)


def other_recipe(w):
    words = OTHER[w.language]
    s = Sheet("vera", margin=60)
    s.line(words["recipe"], 20, True)
    s.bullets(words["parts"])
    s.gap(10)
    for index, step in enumerate(words["steps"], 1):
        s.paragraph(f"{index}. {step}", 11)
    return s


def other_story(w):
    s = Sheet("times", margin=90)
    for _ in range(w.rng.choice([6, 14])):
        s.paragraph(" ".join(w.some(OTHER[w.language]["story"], w.rng.choice([2, 3]))), 12, after=3)
    s.footer = lambda sheet, page, pages: sheet.put(sheet.width / 2, 800, str(page + 40), 9, align="center")
    return s


def other_menu(w):
    words = OTHER[w.language]
    s = Sheet("vera", margin=100)
    s.line(words["menu"], 22, True, "center", after=20)
    for dish in words["dishes"]:
        s.pairs([(dish, w.money(w.amount(5, 25)))], right=s.right, colon="", size=13, after=12)
    return s


def other_blank(w):
    s = Sheet("times")
    if w.rng.random() < 0.5:
        s.gap(300)
        s.line(OTHER[w.language]["keep"], 11, align="center")
    return s


TYPES = {
    "contract": [contract_articles, contract_numbers],
    "letter": [letter_short, letter_long],
    "report": [report_cover, report_plain],
    "other": [other_recipe, other_story, other_menu, other_blank],
}
