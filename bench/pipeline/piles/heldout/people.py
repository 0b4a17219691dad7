"""Held-out papers about a person: identity cards, résumés, forms to fill in. No rule was written on these."""

from sheet import CARD, Sheet

CARD_WORDS = {
    "en": dict(title="National Identity Card", state="Republic of Examplia", name="Surname", given="Given names", born="Date of birth", sex="Sex",
               nation="Nationality", until="Date of expiry", no="Document No.", place="Place of birth", back=["Address", "Authority", "Height", "Date of issue"]),
    "es": dict(title="Documento Nacional de Identidad", state="Reino de Ejemplia", name="Primer apellido", given="Nombre", born="Fecha de nacimiento", sex="Sexo",
               nation="Nacionalidad", until="Válido hasta", no="Núm. soport", place="Lugar de nacimiento", back=["Domicilio", "Equipo", "Hijo/a de", "Lugar de domicilio"]),
    "de": dict(title="Personalausweis", state="Bundesrepublik Beispielland", name="Name", given="Vornamen", born="Geburtstag", sex="Geschlecht",
               nation="Staatsangehörigkeit", until="Gültig bis", no="Ausweisnummer", place="Geburtsort", back=["Anschrift", "Behörde", "Größe", "Augenfarbe"]),
    "fr": dict(title="Carte nationale d'identité", state="République d'Exemple", name="Nom", given="Prénoms", born="Né(e) le", sex="Sexe",
               nation="Nationalité", until="Date d'expiration", no="N° du document", place="Lieu de naissance", back=["Adresse", "Délivrée par", "Taille", "Date de délivrance"]),
}
RESUME = {
    "en": dict(heads=["Profile", "Career history", "Education", "Skills", "Interests"], roles=["Warehouse lead", "Site engineer", "Account clerk", "Nurse"],
               did=["Led a team of eight", "Planned the yearly budget", "Introduced a new ordering system", "Trained new colleagues"], now="to date",
               school=["BSc Logistics", "Diploma in Nursing", "Secondary school"], skills=["Spreadsheets", "Fluent French", "Driving licence", "Project planning"],
               about="Reliable organiser with ten years in trade, looking for a new challenge.", label="Résumé"),
    "es": dict(heads=["Perfil", "Trayectoria profesional", "Estudios", "Competencias", "Aficiones"], roles=["Jefe de almacén", "Ingeniero de obra", "Contable", "Enfermero"],
               did=["Dirigí un equipo de ocho personas", "Planifiqué el presupuesto anual", "Introduje un nuevo sistema de pedidos", "Formé a nuevos compañeros"],
               now="actualidad", school=["Grado en Logística", "Diplomatura en Enfermería", "Bachillerato"],
               skills=["Hojas de cálculo", "Francés fluido", "Permiso de conducir", "Gestión de proyectos"],
               about="Organizador fiable con diez años en el comercio, en busca de un nuevo reto.", label="Currículum"),
    "de": dict(heads=["Profil", "Beruflicher Werdegang", "Ausbildung", "Kenntnisse", "Interessen"], roles=["Lagerleitung", "Bauleitung", "Buchhaltung", "Pflegefachkraft"],
               did=["Leitung eines Teams von acht Personen", "Planung des Jahresbudgets", "Einführung eines Bestellsystems", "Einarbeitung neuer Mitarbeitender"],
               now="heute", school=["Bachelor Logistik", "Examen Krankenpflege", "Abitur"],
               skills=["Tabellenkalkulation", "Französisch fließend", "Führerschein Klasse B", "Projektplanung"],
               about="Zuverlässiges Organisationstalent mit zehn Jahren Erfahrung im Handel.", label="Lebenslauf"),
    "fr": dict(heads=["Profil", "Parcours professionnel", "Études", "Savoir-faire", "Loisirs"], roles=["Chef d'entrepôt", "Ingénieur travaux", "Comptable", "Infirmier"],
               did=["Animation d'une équipe de huit personnes", "Préparation du budget annuel", "Mise en place d'un outil de commande", "Formation des nouveaux"],
               now="aujourd'hui", school=["Licence Logistique", "Diplôme d'infirmier", "Baccalauréat"],
               skills=["Tableurs", "Anglais courant", "Permis B", "Gestion de projet"],
               about="Organisateur fiable, dix ans d'expérience dans le commerce, en quête d'un nouveau défi.", label="CV"),
}
FORM = {
    "en": dict(title=["Enrolment Form", "Claim Form", "Request for a parking permit"], hint="Complete in capitals. Mark with a cross where it applies.",
               fields=["Surname", "First name(s)", "Street and number", "Postcode, town", "Daytime telephone", "E-mail", "Date of birth"],
               boxes=[["Mr", "Ms", "Other"], ["New", "Renewal"], ["Yes", "No"]], ask=["How should we address you?", "Kind of request", "I agree that my data are stored"],
               sign=["Place and date", "Signature of the applicant"], office="For internal use", part="Section"),
    "es": dict(title=["Hoja de inscripción", "Impreso de reclamación", "Solicitud de tarjeta de aparcamiento"], hint="Escriba en mayúsculas y señale con una cruz lo que corresponda.",
               fields=["Apellidos", "Nombre", "Calle y número", "C.P. y localidad", "Teléfono de contacto", "Correo electrónico", "Fecha de nacimiento"],
               boxes=[["Sr.", "Sra.", "Otro"], ["Nueva", "Renovación"], ["Sí", "No"]], ask=["Tratamiento", "Tipo de petición", "Acepto que se guarden mis datos"],
               sign=["Lugar y fecha", "Firma del interesado"], office="Espacio reservado", part="Sección"),
    "de": dict(title=["Anmeldebogen", "Schadenanzeige", "Antrag auf einen Bewohnerparkausweis"], hint="In Druckbuchstaben ausfüllen. Zutreffendes ankreuzen.",
               fields=["Nachname", "Vorname(n)", "Straße und Hausnummer", "PLZ, Wohnort", "Telefon tagsüber", "E-Mail", "Geburtsdatum"],
               boxes=[["Herr", "Frau", "divers"], ["Erstantrag", "Verlängerung"], ["Ja", "Nein"]], ask=["Anrede", "Art des Antrags", "Ich willige in die Speicherung ein"],
               sign=["Ort, Datum", "Unterschrift der antragstellenden Person"], office="Wird von der Behörde ausgefüllt", part="Abschnitt"),
    "fr": dict(title=["Bulletin d'inscription", "Déclaration de sinistre", "Demande de carte de stationnement"], hint="Écrire en majuscules et cocher la case utile.",
               fields=["Nom de famille", "Prénom(s)", "Rue et numéro", "CP, ville", "Téléphone en journée", "Courriel", "Date de naissance"],
               boxes=[["M.", "Mme", "Autre"], ["Première demande", "Renouvellement"], ["Oui", "Non"]], ask=["Civilité", "Nature de la demande", "J'accepte la conservation de mes données"],
               sign=["Lieu et date", "Signature du demandeur"], office="Cadre réservé à l'administration", part="Rubrique"),
}


def machine_lines(w):
    """The three lines at the foot of a card that machines read."""
    name = "SPECIMEN<<KIM".ljust(30, "<")
    return [f"IDEXA{w.digits(9)}".ljust(30, "<"), f"{w.digits(7)}F{w.digits(7)}EXA".ljust(29, "<") + w.digits(1), name]


def card_faces(w):
    """Front and back on paper of the card's size."""
    words = CARD_WORDS[w.language]
    s = Sheet("vera", CARD, margin=10)
    s.line(words["state"], 6, after=2)
    s.line(words["title"], 9, True, after=4)
    s.box(10, 34, 70, 110, 0.8)
    given, family = w.person().split()
    s.y = 34
    for label, value in [(words["name"], family.upper()), (words["given"], given), (words["born"], w.date(-12000, "short")), (words["nation"], "EXA"),
                         (words["no"], w.digits(9)), (words["until"], w.date(2000, "short"))]:
        s.put(80, s.y + 5, label, 5)
        s.put(80, s.y + 13, value, 8, True)
        s.y += 17
    s.new_page()
    values = [", ".join(w.address()), w.pick(["EXA 04", "AB 12"]), "172 cm", w.date(-900, "short")]
    for label, value in zip(words["back"], values):
        s.put(14, s.y + 5, label, 5)
        s.put(14, s.y + 13, value, 7)
        s.y += 18
    s.y = 116
    for text in machine_lines(w):
        s.put(14, s.y, text, 9)
        s.y += 11
    return s


def card_copied(w):
    """Both sides as somebody has copied them to one sheet."""
    words = CARD_WORDS[w.language]
    s = Sheet("times", margin=80)
    s.box(80, 90, 420, 300)
    s.put(95, 115, words["state"].upper(), 9)
    s.put(95, 132, words["title"].upper(), 13, True)
    s.y = 150
    given, family = w.person().split()
    s.pairs([(words["name"], family), (words["given"], given), (words["sex"], "F"), (words["nation"], "EXA"), (words["born"], w.date(-14000, "short")),
             (words["place"], w.address()[1]), (words["until"], w.date(1500, "short")), (words["no"], w.digits(9))], x=180, offset=110, size=9, colon="")
    s.box(80, 360, 420, 560)
    s.y = 375
    s.pairs(list(zip(words["back"], [w.address()[0], "EXA 04", "172", w.date(-900, "short")])), x=95, size=9, colon="")
    s.y = 500
    s.lines(machine_lines(w), size=13, x=95)
    return s


def resume_plain(w):
    words = RESUME[w.language]
    s = Sheet("times", margin=62)
    s.line(w.person(), 22, True)
    s.line(f"{', '.join(w.address())} · {w.phone()} · {w.mail()}", 9, after=10)
    year = w.day.year
    for index, head in enumerate(words["heads"][: w.rng.choice([4, 5])]):
        s.gap(6)
        s.line(head, 13, True, after=2)
        s.rule()
        if index == 0:
            s.paragraph(words["about"])
        elif index == 1:
            for job in range(w.rng.choice([2, 3, 7])):
                end = words["now"] if job == 0 else str(year - 3 * job)
                s.line(f"{year - 3 * job - 3} – {end}   {w.pick(words['roles'])}, {w.pick([w.company, w.client])}", 10, True)
                s.bullets(w.some(words["did"], 3))
        elif index == 2:
            for step, school in enumerate(w.some(words["school"], 2)):
                s.line(f"{year - 18 - 3 * step} – {year - 15 - 3 * step}   {school}")
        else:
            s.line(", ".join(w.some(words["skills"], 3)))
    return s


def resume_side(w):
    """A narrow column with the contact and the skills, the story beside it."""
    words = RESUME[w.language]
    s = Sheet("vera", margin=40)
    s.box(0, 0, 180, 842, 0.9)
    s.put(20, 70, w.person(), 15, True)
    s.put(20, 90, w.pick(words["roles"]), 10)
    for index, text in enumerate([w.phone(), w.mail(), w.address()[1]]):
        s.put(20, 130 + 16 * index, text, 8)
    s.put(20, 230, words["heads"][3], 11, True)
    for index, text in enumerate(words["skills"]):
        s.put(20, 250 + 15 * index, "• " + text, 8)
    s.margin, s.y = 205, 56
    if w.rng.random() < 0.6:
        s.line(words["label"], 18, True, after=10)
    s.line(words["heads"][1], 13, True)
    for job in range(w.rng.choice([2, 3])):
        start = 1 + 30 * job
        s.line(f"{w.pick(words['roles'])}", 10, True, after=2)
        s.line(f"{w.client}, {(w.day.month + start) % 12 + 1:02}/{w.day.year - 3 * job - 3} - {(w.day.month + 4) % 12 + 1:02}/{w.day.year - 3 * job}", 9)
        s.bullets(w.some(words["did"], 2), mark="-", size=9)
        s.gap(4)
    s.line(words["heads"][2], 13, True)
    for step, school in enumerate(w.some(words["school"], 2)):
        s.line(f"{school} ({w.day.year - 18 - 3 * step})", 9)
    return s


def form_lines(w):
    words = FORM[w.language]
    s = Sheet("times", margin=58)
    s.line(w.company, 9)
    s.line(w.pick(words["title"]), 18, True, after=8)
    s.paragraph(words["hint"], 9)
    s.line(f"{words['part']} A", 12, True)
    for label in words["fields"]:
        s.fill_blank(label)
    s.gap(12)
    s.line(f"{words['part']} B", 12, True)
    for ask, boxes in zip(words["ask"], words["boxes"]):
        s.line(ask, 10, after=0)
        s.checkboxes(boxes)
        s.gap(6)
    s.gap(30)
    for label in words["sign"]:
        s.gap(20)
        s.rule(s.margin, s.margin + 220)
        s.line(label, 8)
    return s


def form_grid(w):
    """Boxes to write in, the label small in each; sometimes filled in."""
    words = FORM[w.language]
    s = Sheet("vera", margin=46)
    s.line(w.pick(words["title"]), 15, True, "center", after=10)
    s.paragraph(words["hint"], 8)
    filled = w.rng.random() < 0.5
    values = [w.person().split()[1], w.person().split()[0], *w.address(), w.phone(), w.mail(), w.date(-12000, "short")]
    half = (s.right - s.margin) / 2
    for index, (label, value) in enumerate(zip(words["fields"], values)):
        left = s.margin + half * (index % 2)
        s.box(left, s.y, left + half, s.y + 36)
        s.put(left + 4, s.y + 9, label, 7)
        if filled:
            s.put(left + 8, s.y + 28, value, 10)
        s.y += 36 if index % 2 else 0
    s.y += 50
    for ask, boxes in zip(words["ask"], words["boxes"]):
        s.line(ask, 9, True, after=0)
        s.checkboxes(boxes, 9)
        s.gap(6)
    s.gap(10)
    s.box(s.margin, s.y, s.right, s.y + 50, 0.92)
    s.put(s.margin + 4, s.y + 12, words["office"], 8)
    s.gap(90)
    s.rule(s.margin, s.margin + 180)
    s.line(words["sign"][1], 8)
    return s


TYPES = {"id_card": [card_faces, card_copied], "resume": [resume_plain, resume_side], "form": [form_lines, form_grid]}
