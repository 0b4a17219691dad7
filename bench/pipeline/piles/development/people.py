"""Papers about a person that rules are written on: identity cards, résumés, forms."""

from sheet import CARD, Sheet

CARD_WORDS = {
    "en": dict(title=["IDENTITY CARD", "Driving Licence", "Residence Permit"], state="United Kingdom of Examplia", name="Name", given="First name", born="Born", sex="Gender",
               nation="Citizenship", until="Expires", no="Card number", place="Place of birth"),
    "es": dict(title=["DOCUMENTO NACIONAL DE IDENTIDAD", "Permiso de conducción", "Permiso de residencia"], state="España Ejemplar", name="Apellidos", given="Nombre",
               born="Fecha de nacimiento", sex="Sexo", nation="Nacionalidad", until="Fecha de validez", no="DNI", place="Lugar de nacimiento"),
    "de": dict(title=["PERSONALAUSWEIS", "Führerschein", "Aufenthaltstitel"], state="Republik Beispiel", name="Familienname", given="Vorname", born="Geburtsdatum",
               sex="Geschlecht", nation="Staatsangehörigkeit", until="Gültig bis", no="Ausweis-Nr.", place="Geburtsort"),
    "fr": dict(title=["CARTE D'IDENTITÉ", "Permis de conduire", "Titre de séjour"], state="République Exemplaire", name="Nom", given="Prénom", born="Date de naissance",
               sex="Sexe", nation="Nationalité", until="Valable jusqu'au", no="Carte n°", place="Lieu de naissance"),
}
RESUME = {
    "en": dict(title=["Curriculum Vitae", "Resume"], heads=["Summary", "Work Experience", "Education", "Skills", "Languages", "References"],
               roles=["Sales assistant", "Software developer", "Teacher", "Electrician"], did=["Responsible for the accounts of large customers", "Maintained the network of three sites",
               "Organised the yearly fair", "Cut the costs of delivery by 10 %"], now="Present", school=["Master of Arts, State University", "Bachelor of Science, City College", "High school diploma"],
               skills=["English (native)", "German (B2)", "SQL", "Team leadership"]),
    "es": dict(title=["Curriculum Vitae", "Currículum vítae"], heads=["Resumen", "Experiencia laboral", "Formación académica", "Habilidades", "Idiomas", "Referencias"],
               roles=["Dependiente", "Programador", "Profesor", "Electricista"], did=["Responsable de las cuentas de grandes clientes", "Mantenimiento de la red de tres sedes",
               "Organización de la feria anual", "Reducción de los costes de reparto en un 10 %"], now="Actualidad", school=["Máster en Letras", "Grado en Ciencias", "Bachillerato"],
               skills=["Inglés (nativo)", "Alemán (B2)", "SQL", "Liderazgo de equipos"]),
    "de": dict(title=["Lebenslauf", "Tabellarischer Lebenslauf"], heads=["Persönliche Daten", "Berufserfahrung", "Bildungsweg", "Fähigkeiten", "Sprachen", "Referenzen"],
               roles=["Verkauf", "Softwareentwicklung", "Lehramt", "Elektrotechnik"], did=["Betreuung der Großkunden", "Wartung des Netzes an drei Standorten",
               "Organisation der Jahresmesse", "Senkung der Lieferkosten um 10 %"], now="heute", school=["Magister Artium, Universität", "Bachelor of Science, Hochschule", "Allgemeine Hochschulreife"],
               skills=["Englisch (Muttersprache)", "Deutsch (B2)", "SQL", "Teamleitung"]),
    "fr": dict(title=["Curriculum vitæ", "Curriculum Vitae"], heads=["Profil", "Expérience professionnelle", "Formation", "Compétences", "Langues", "Références"],
               roles=["Vendeur", "Développeur", "Enseignant", "Électricien"], did=["Suivi des comptes des grands clients", "Maintenance du réseau de trois sites",
               "Organisation du salon annuel", "Réduction des coûts de livraison de 10 %"], now="présent", school=["Master de lettres, université", "Licence de sciences", "Baccalauréat"],
               skills=["Anglais (langue maternelle)", "Allemand (B2)", "SQL", "Gestion d'équipe"]),
}
FORM = {
    "en": dict(title=["Application Form", "Registration Form", "Membership application"], hint="Please fill in this form in block letters and tick the appropriate box.",
               fields=["Full name", "Address", "City", "Phone number", "E-mail address", "Date of birth", "Nationality"], boxes=[["Male", "Female"], ["Single", "Married", "Widowed"]],
               ask=["Gender", "Marital status"], sign=["Date", "Signature"], office="For office use only"),
    "es": dict(title=["Formulario de solicitud", "Formulario de inscripción", "Solicitud de ingreso"], hint="Rellene este formulario en letra de imprenta y marque la casilla que corresponda.",
               fields=["Nombre y apellidos", "Dirección", "Ciudad", "Teléfono", "Correo electrónico", "Fecha de nacimiento", "Nacionalidad"], boxes=[["Hombre", "Mujer"], ["Soltero", "Casado", "Viudo"]],
               ask=["Sexo", "Estado civil"], sign=["Fecha", "Firma"], office="A rellenar por la administración"),
    "de": dict(title=["Antragsformular", "Anmeldeformular", "Aufnahmeantrag"], hint="Bitte füllen Sie dieses Formular in Blockschrift aus und kreuzen Sie Zutreffendes an.",
               fields=["Name, Vorname", "Anschrift", "PLZ, Ort", "Telefonnummer", "E-Mail-Adresse", "Geburtsdatum", "Staatsangehörigkeit"], boxes=[["männlich", "weiblich"], ["ledig", "verheiratet", "verwitwet"]],
               ask=["Geschlecht", "Familienstand"], sign=["Datum", "Unterschrift"], office="Nur vom Amt auszufüllen"),
    "fr": dict(title=["Formulaire de demande", "Formulaire d'inscription", "Demande d'adhésion"], hint="Veuillez remplir ce formulaire en lettres capitales et cocher la case correspondante.",
               fields=["Nom et prénom", "Adresse", "Ville", "Téléphone", "Adresse e-mail", "Date de naissance", "Nationalité"], boxes=[["Homme", "Femme"], ["Célibataire", "Marié", "Veuf"]],
               ask=["Sexe", "Situation de famille"], sign=["Date", "Signature"], office="Réservé à l'administration"),
}


def card_front(w):
    words = CARD_WORDS[w.language]
    s = Sheet("helvetica", CARD, margin=9)
    s.line(words["state"].upper(), 7, after=2)
    s.line(w.pick(words["title"]), 9, True)
    given, family = w.person().split()
    s.box(170, 36, 230, 112, 0.85)
    s.pairs([(words["name"], family), (words["given"], given), (words["born"], w.date(-11000, "short")), (words["place"], w.address()[1]), (words["sex"], "M"),
             (words["nation"], "EXA"), (words["no"], w.digits(8) + "X"), (words["until"], w.date(1200, "short"))], offset=70, size=6, after=5, colon=w.rng.choice(["", ":"]))
    return s


def card_on_page(w):
    """A card copied to a sheet, the front alone."""
    words = CARD_WORDS[w.language]
    s = Sheet("courier", margin=60)
    s.box(60, 100, 360, 290)
    s.put(75, 122, w.pick(words["title"]), 12, True)
    s.y = 140
    given, family = w.person().split()
    s.pairs([(words["name"], family.upper()), (words["given"], given.upper()), (words["sex"], "F"), (words["born"], w.date(-9000, "short")), (words["nation"], "EXA"),
             (words["no"], w.digits(9)), (words["until"], w.date(900, "short"))], x=75, size=8)
    return s


def passport(w):
    words = CARD_WORDS[w.language]
    title = {"en": "PASSPORT", "es": "PASAPORTE", "de": "REISEPASS", "fr": "PASSEPORT"}[w.language]
    s = Sheet("helvetica", (354, 250), margin=14)
    s.line(f"{words['state']}   {title}", 10, True)
    given, family = w.person().split()
    s.pairs([(words["name"], family.upper()), (words["given"], given.upper()), (words["nation"], "EXA"), (words["born"], w.date(-9000, "short")), (words["sex"], "F"),
             (words["place"], w.address()[1]), (words["until"], w.date(900, "short"))], x=120, size=7, colon="", offset=100)
    s.y = 200
    s.line(f"P<EXA{family.upper().replace('É', 'E').replace('È', 'E')}<<{given.upper()}".ljust(44, "<"), 9)
    s.line(f"{w.digits(9)}EXA{w.digits(7)}F{w.digits(7)}".ljust(43, "<") + "8", 9)
    return s


def resume_classic(w):
    words = RESUME[w.language]
    s = Sheet("helvetica")
    s.line(w.pick(words["title"]), 18, True, "center")
    s.line(w.person(), 14, True, "center")
    s.line(f"{', '.join(w.address())} | {w.phone()} | {w.mail()}", 9, align="center", after=12)
    year = w.day.year
    s.line(words["heads"][1].upper(), 12, True)
    for job in range(w.rng.choice([2, 3, 9])):
        s.line(f"{w.pick(words['roles'])}, {w.pick([w.company, w.client])}", 10, True, after=2)
        s.line(f"{w.month(job)} - {words['now'] if job == 0 else w.month(job - 1)}", 9)
        s.bullets(w.some(words["did"], 3))
    s.line(words["heads"][2].upper(), 12, True)
    for step, school in enumerate(words["school"]):
        s.line(f"{year - 20 - 3 * step}-{year - 17 - 3 * step}: {school}")
    s.line(words["heads"][3].upper(), 12, True)
    s.bullets(words["skills"])
    return s


def resume_table(w):
    """Years at the left, what was done at the right; the name is the title."""
    words = RESUME[w.language]
    s = Sheet("courier", margin=50)
    s.line(w.person(), 18, True, after=2)
    s.lines([*w.address(), w.phone(), w.mail()], size=9, after=2)
    s.gap(12)
    year = w.day.year
    for head, entries in [(words["heads"][1], words["roles"]), (words["heads"][2], words["school"]), (words["heads"][4], words["skills"][:2])]:
        s.line(head, 12, True)
        for step, entry in enumerate(w.some(entries, 3)):
            s.put(s.margin, s.y + 9, f"{year - 3 * step - 3} - {year - 3 * step}", 9)
            s.paragraph(f"{entry}, {w.client}", 9, x=150)
        s.gap(8)
    return s


def form_blank(w):
    words = FORM[w.language]
    s = Sheet("helvetica")
    s.line(w.pick(words["title"]).upper(), 16, True, "center", after=8)
    s.paragraph(words["hint"], 9)
    for label in words["fields"]:
        s.fill_blank(label + ":")
    s.gap(8)
    for ask, boxes in zip(words["ask"], words["boxes"]):
        s.line(ask, after=0)
        s.checkboxes(boxes)
    s.gap(40)
    for label in words["sign"]:
        s.fill_blank(label, 240)
        s.gap(8)
    return s


def form_dotted(w):
    """Dots to write on and brackets to tick, as word processors make them."""
    words = FORM[w.language]
    s = Sheet("courier", margin=50)
    s.line(w.pick(words["title"]), 14, True, after=8)
    for label in words["fields"]:
        s.line(f"{label}: {'.' * 40}" if w.rng.random() < 0.7 else f"{label}: {'_' * 36}", 9, after=8)
    for ask, boxes in zip(words["ask"], words["boxes"]):
        s.line(f"{ask}:  " + "   ".join(f"[ ] {box}" for box in boxes), 9, after=8)
    s.line(words["office"], 9, True, after=30)
    s.line("   ".join(f"{label} ________________" for label in words["sign"]), 9)
    return s


def form_filled(w):
    words = FORM[w.language]
    s = Sheet("helvetica", margin=48)
    s.line(w.pick(words["title"]), 15, True)
    s.paragraph(words["hint"], 8)
    values = [w.person(), *w.address(), w.phone(), w.mail(), w.date(-11000, "short"), "EXA"]
    s.table([("", 170, "left"), ("", 300, "left")], [list(pair) for pair in zip(words["fields"], values)], looks="grid", size=10)
    for ask, boxes in zip(words["ask"], words["boxes"]):
        s.line(ask, 9, True, after=0)
        s.checkboxes(boxes, 9)
    s.gap(30)
    s.fill_blank(words["sign"][1], 240)
    return s


TYPES = {"id_card": [card_front, card_on_page, passport], "resume": [resume_classic, resume_table], "form": [form_blank, form_dotted, form_filled]}
