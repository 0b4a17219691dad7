//! Where each value stands in the two formats. Names of ZUGFeRD 1 follow those of its successors behind `|`.

/// A format of e-invoices.
#[derive(Debug)]
pub(super) struct Dialect {
    pub name: &'static str,
    /// Field and its paths; of several, parted by spaces, the first with a text counts.
    pub values: &'static [(&'static str, &'static str)],
    pub addresses: &'static [(&'static str, &'static str)],
    /// The lines of an address, each of several elements.
    pub address_parts: &'static [&'static [&'static str]],
    pub line: &'static str,
    /// Column and its path within a line.
    pub cells: &'static [(&'static str, &'static str)],
}

macro_rules! trade {
    ($($rest:literal)*) => { concat!("SupplyChainTradeTransaction|SpecifiedSupplyChainTradeTransaction/", $($rest),*) };
}

macro_rules! agreement {
    ($rest:literal) => { trade!("ApplicableHeaderTradeAgreement|ApplicableSupplyChainTradeAgreement/" $rest) };
}

macro_rules! settlement {
    ($rest:literal) => { trade!("ApplicableHeaderTradeSettlement|ApplicableSupplyChainTradeSettlement/" $rest) };
}

macro_rules! summation {
    ($rest:literal) => {
        concat!(
            settlement!("SpecifiedTradeSettlementHeaderMonetarySummation|SpecifiedTradeSettlementMonetarySummation/"),
            $rest
        )
    };
}

pub(super) const CII: Dialect = Dialect {
    name: "CII",
    values: &[
        ("number", "ExchangedDocument|HeaderExchangedDocument/ID"),
        ("issue_date", "ExchangedDocument|HeaderExchangedDocument/IssueDateTime/DateTimeString"),
        (
            "delivery_date",
            trade!(
                "ApplicableHeaderTradeDelivery|ApplicableSupplyChainTradeDelivery/ActualDeliverySupplyChainEvent/OccurrenceDateTime/DateTimeString"
            ),
        ),
        ("due_date", settlement!("SpecifiedTradePaymentTerms/DueDateDateTime/DateTimeString")),
        ("payment_terms", settlement!("SpecifiedTradePaymentTerms/Description")),
        (
            "order_number",
            concat!(
                agreement!("BuyerOrderReferencedDocument/IssuerAssignedID"),
                " ",
                agreement!("BuyerOrderReferencedDocument/ID")
            ),
        ),
        (
            "contract_number",
            concat!(
                agreement!("ContractReferencedDocument/IssuerAssignedID"),
                " ",
                agreement!("ContractReferencedDocument/ID")
            ),
        ),
        ("customer_number", agreement!("BuyerTradeParty/ID")),
        (
            "original_invoice_number",
            concat!(
                settlement!("InvoiceReferencedDocument/IssuerAssignedID"),
                " ",
                settlement!("InvoiceReferencedDocument/ID")
            ),
        ),
        ("seller", agreement!("SellerTradeParty/Name")),
        ("seller_vat_id", agreement!("SellerTradeParty/SpecifiedTaxRegistration/ID@schemeID=VA")),
        ("seller_tax_number", agreement!("SellerTradeParty/SpecifiedTaxRegistration/ID@schemeID=FC")),
        ("seller_email", agreement!("SellerTradeParty/DefinedTradeContact/EmailURIUniversalCommunication/URIID")),
        (
            "seller_phone",
            agreement!("SellerTradeParty/DefinedTradeContact/TelephoneUniversalCommunication/CompleteNumber"),
        ),
        ("buyer", agreement!("BuyerTradeParty/Name")),
        ("buyer_vat_id", agreement!("BuyerTradeParty/SpecifiedTaxRegistration/ID@schemeID=VA")),
        ("currency", settlement!("InvoiceCurrencyCode")),
        ("iban", settlement!("SpecifiedTradeSettlementPaymentMeans/PayeePartyCreditorFinancialAccount/IBANID")),
        ("bic", settlement!("SpecifiedTradeSettlementPaymentMeans/PayeeSpecifiedCreditorFinancialInstitution/BICID")),
        ("line_total", summation!("LineTotalAmount")),
        ("charges", summation!("ChargeTotalAmount")),
        ("allowances", summation!("AllowanceTotalAmount")),
        ("net_total", summation!("TaxBasisTotalAmount")),
        ("tax_total", summation!("TaxTotalAmount")),
        ("grand_total", summation!("GrandTotalAmount")),
        ("prepaid", summation!("TotalPrepaidAmount")),
        ("amount_due", summation!("DuePayableAmount")),
    ],
    addresses: &[
        ("seller_address", agreement!("SellerTradeParty/PostalTradeAddress")),
        ("buyer_address", agreement!("BuyerTradeParty/PostalTradeAddress")),
    ],
    address_parts: &[&["LineOne"], &["LineTwo"], &["LineThree"], &["PostcodeCode", "CityName"], &["CountryID"]],
    line: trade!("IncludedSupplyChainTradeLineItem"),
    cells: &[
        ("position", "AssociatedDocumentLineDocument/LineID"),
        ("item_number", "SpecifiedTradeProduct/SellerAssignedID SpecifiedTradeProduct/GlobalID"),
        ("description", "SpecifiedTradeProduct/Name"),
        ("quantity", "SpecifiedLineTradeDelivery|SpecifiedSupplyChainTradeDelivery/BilledQuantity"),
        (
            "unit_price",
            "SpecifiedLineTradeAgreement|SpecifiedSupplyChainTradeAgreement/NetPriceProductTradePrice/ChargeAmount",
        ),
        (
            "tax_rate",
            "SpecifiedLineTradeSettlement|SpecifiedSupplyChainTradeSettlement/ApplicableTradeTax/RateApplicablePercent|ApplicablePercent",
        ),
        (
            "amount",
            "SpecifiedLineTradeSettlement|SpecifiedSupplyChainTradeSettlement/SpecifiedTradeSettlementLineMonetarySummation|SpecifiedTradeSettlementMonetarySummation/LineTotalAmount",
        ),
    ],
};

pub(super) const UBL: Dialect = Dialect {
    name: "UBL",
    values: &[
        ("number", "ID"),
        ("issue_date", "IssueDate"),
        ("due_date", "DueDate PaymentMeans/PaymentDueDate"),
        ("delivery_date", "Delivery/ActualDeliveryDate"),
        ("payment_terms", "PaymentTerms/Note"),
        ("order_number", "OrderReference/ID"),
        ("contract_number", "ContractDocumentReference/ID"),
        ("original_invoice_number", "BillingReference/InvoiceDocumentReference/ID"),
        (
            "seller",
            "AccountingSupplierParty/Party/PartyName/Name AccountingSupplierParty/Party/PartyLegalEntity/RegistrationName",
        ),
        ("seller_vat_id", "AccountingSupplierParty/Party/PartyTaxScheme/CompanyID"),
        ("seller_email", "AccountingSupplierParty/Party/Contact/ElectronicMail"),
        ("seller_phone", "AccountingSupplierParty/Party/Contact/Telephone"),
        (
            "buyer",
            "AccountingCustomerParty/Party/PartyName/Name AccountingCustomerParty/Party/PartyLegalEntity/RegistrationName",
        ),
        ("buyer_vat_id", "AccountingCustomerParty/Party/PartyTaxScheme/CompanyID"),
        ("customer_number", "AccountingCustomerParty/Party/PartyIdentification/ID"),
        ("currency", "DocumentCurrencyCode"),
        ("iban", "PaymentMeans/PayeeFinancialAccount/ID"),
        ("bic", "PaymentMeans/PayeeFinancialAccount/FinancialInstitutionBranch/ID"),
        ("line_total", "LegalMonetaryTotal/LineExtensionAmount"),
        ("charges", "LegalMonetaryTotal/ChargeTotalAmount"),
        ("allowances", "LegalMonetaryTotal/AllowanceTotalAmount"),
        ("net_total", "LegalMonetaryTotal/TaxExclusiveAmount"),
        ("tax_total", "TaxTotal/TaxAmount"),
        ("grand_total", "LegalMonetaryTotal/TaxInclusiveAmount"),
        ("prepaid", "LegalMonetaryTotal/PrepaidAmount"),
        ("amount_due", "LegalMonetaryTotal/PayableAmount"),
    ],
    addresses: &[
        ("seller_address", "AccountingSupplierParty/Party/PostalAddress"),
        ("buyer_address", "AccountingCustomerParty/Party/PostalAddress"),
    ],
    address_parts: &[
        &["StreetName"],
        &["AdditionalStreetName"],
        &["PostalZone", "CityName"],
        &["Country/IdentificationCode"],
    ],
    line: "InvoiceLine|CreditNoteLine",
    cells: &[
        ("position", "ID"),
        ("item_number", "Item/SellersItemIdentification/ID"),
        ("description", "Item/Name Item/Description"),
        ("quantity", "InvoicedQuantity|CreditedQuantity"),
        ("unit_price", "Price/PriceAmount"),
        ("tax_rate", "Item/ClassifiedTaxCategory/Percent"),
        ("amount", "LineExtensionAmount"),
    ],
};
