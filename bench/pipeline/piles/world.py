"""What documents speak of, in four languages: organisations, places, goods, dates and sums. Nobody in it exists."""

import datetime

LANGUAGES = ["en", "es", "de", "fr"]

COMPANIES = {
    "en": ["Harbour Tools Ltd", "Northfield Paper Co.", "Bright Mill Services Inc.", "Oakridge Supplies LLC", "Two Rivers Hardware"],
    "es": ["Ferretería del Puerto S.L.", "Papeles del Norte S.A.", "Suministros Robledo S.L.", "Talleres Dos Ríos S.A."],
    "de": ["Hafenwerkzeug GmbH", "Papierhandel Nordfeld AG", "Lichtmühle Dienste GmbH", "Zweiflüsse Eisenwaren KG"],
    "fr": ["Outillage du Port SARL", "Papeterie du Nord SA", "Fournitures Chênaie SAS", "Quincaillerie des Deux Rives"],
}
STREETS = {
    "en": ["12 Mill Lane", "48 Station Road", "305 Harbour Street", "7 Church Walk"],
    "es": ["Calle del Molino 12", "Avenida de la Estación 48", "Plaza Mayor 7", "Calle del Puerto 35"],
    "de": ["Mühlenweg 12", "Bahnhofstraße 48", "Hafenstraße 35", "Am Markt 7"],
    "fr": ["12 rue du Moulin", "48 avenue de la Gare", "35 quai du Port", "7 place de l'Église"],
}
TOWNS = {
    "en": ["Milltown MT4 2QX", "Eastport, OR 97001", "Stoneford SF1 9TT"],
    "es": ["28013 Villanueva", "41001 Puertoalto", "08002 Montesol"],
    "de": ["20457 Neuhafen", "50667 Altstadt", "80331 Bergheim"],
    "fr": ["69002 Villeneuve", "44000 Port-Clair", "31000 Montbrun"],
}
GIVEN = {"en": "Alex Sam Robin Jamie", "es": "Ariel Cruz Paz Noel", "de": "Kim Toni Luca Sascha", "fr": "Camille Claude Dominique Lou"}
FAMILY = {"en": "Specimen Sample", "es": "Muestra Ejemplo", "de": "Mustermann Beispiel", "fr": "Spécimen Modèle"}
GOODS = {
    "en": ["Paper A4, 80 g", "Steel screws M6", "Cleaning service, hourly", "LED lamp 12 W", "Delivery", "Office chair", "Garden hose 20 m",
           "Printer toner", "Maintenance visit", "Wooden shelf", "Coffee beans 1 kg", "Cable 5 m"],
    "es": ["Papel A4 80 g", "Tornillos de acero M6", "Servicio de limpieza por hora", "Lámpara LED 12 W", "Transporte", "Silla de oficina",
           "Manguera 20 m", "Tóner de impresora", "Visita de mantenimiento", "Estante de madera", "Café en grano 1 kg", "Cable 5 m"],
    "de": ["Papier A4, 80 g", "Stahlschrauben M6", "Reinigung, je Stunde", "LED-Lampe 12 W", "Versand", "Bürostuhl", "Gartenschlauch 20 m",
           "Druckertoner", "Wartungsbesuch", "Holzregal", "Kaffeebohnen 1 kg", "Kabel 5 m"],
    "fr": ["Papier A4 80 g", "Vis en acier M6", "Nettoyage, à l'heure", "Lampe LED 12 W", "Livraison", "Chaise de bureau", "Tuyau 20 m",
           "Toner d'imprimante", "Visite d'entretien", "Étagère en bois", "Café en grains 1 kg", "Câble 5 m"],
}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}


class World:
    """One document's share of it, drawn from a seeded `random.Random`."""

    def __init__(self, language, rng):
        self.language = language
        self.rng = rng
        self.day = datetime.date(2019, 1, 1) + datetime.timedelta(days=rng.randrange(2200))
        self.company = self.pick(COMPANIES)
        self.client = self.pick(COMPANIES)

    def pick(self, by_language):
        """One of a list, or of the list of this language."""
        options = by_language[self.language] if isinstance(by_language, dict) else by_language
        return self.rng.choice(options.split() if isinstance(options, str) else options)

    def some(self, by_language, count):
        """Several different ones, in their order."""
        options = by_language[self.language] if isinstance(by_language, dict) else by_language
        chosen = sorted(self.rng.sample(range(len(options)), min(count, len(options))))
        return [options[index] for index in chosen]

    def person(self):
        return f"{self.pick(GIVEN)} {self.pick(FAMILY)}"

    def address(self):
        return [self.pick(STREETS), self.pick(TOWNS)]

    def date(self, days=0, style=None):
        day = self.day + datetime.timedelta(days=days)
        style = style or self.rng.choice(["iso", "short", "long"])
        month = MONTHS[self.language].split()[day.month - 1]
        if style == "iso":
            return day.isoformat()
        if style == "short":
            return day.strftime({"en": "%m/%d/%Y", "es": "%d/%m/%Y", "de": "%d.%m.%Y", "fr": "%d/%m/%Y"}[self.language])
        return {"en": f"{month} {day.day}, {day.year}", "es": f"{day.day} de {month} de {day.year}",
                "de": f"{day.day}. {month} {day.year}", "fr": f"{day.day} {month} {day.year}"}[self.language]

    def month(self, back=0):
        index = (self.day.month - 1 - back) % 12
        return f"{MONTHS[self.language].split()[index]} {self.day.year - (back >= self.day.month)}"

    def amount(self, low=5, high=900):
        return self.rng.randrange(low * 100, high * 100)

    def figure(self, cents):
        """As a number is printed in the language."""
        sign, cents = ("-" if cents < 0 else ""), abs(cents)
        whole = f"{cents // 100:,}"
        marks = {"en": (",", "."), "es": (".", ","), "de": (".", ","), "fr": (" ", ",")}[self.language]
        return sign + whole.replace(",", marks[0]) + marks[1] + f"{cents % 100:02}"

    def money(self, cents):
        return f"${self.figure(cents)}" if self.language == "en" else f"{self.figure(cents)} €"

    def number(self, prefix=""):
        return f"{prefix}{self.rng.choice(['', '20', '24-'])}{self.rng.randrange(1000, 99999)}"

    def digits(self, count):
        return "".join(str(self.rng.randrange(10)) for _ in range(count))

    def iban(self):
        return f"{ {'en': 'GB', 'es': 'ES', 'de': 'DE', 'fr': 'FR'}[self.language]}{self.digits(2)} " + " ".join(self.digits(4) for _ in range(5))

    def mail(self):
        return f"{self.rng.choice(['info', 'office', 'contact'])}@example.{self.rng.choice(['com', 'org', 'net'])}"

    def phone(self):
        return f"+{self.rng.randrange(30, 50)} {self.digits(3)} {self.digits(3)} {self.digits(3)}"

    def goods(self, count):
        """(name, quantity, price, sum) in cents, and the sum of all."""
        rows = []
        for _ in range(count):
            quantity, price = self.rng.randrange(1, 12), self.amount(3, 240)
            rows.append((self.pick(GOODS), quantity, price, quantity * price))
        return rows, sum(row[3] for row in rows)
