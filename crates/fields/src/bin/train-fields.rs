//! Trains the models that read fields: `train_fields OUT.model REPORT.md [--papers N] [--forests FILE]`.
//!
//! Makes papers, trains on those of some makers, calibrates on those of others, tests on those of still others, and
//! writes the models and a report. Papers that calibrate and test are read twice: as printed, and as OCR reads a scan. With
//! `--forests`, the trees of another file are kept and only calibrated. The same version and seed always write the same file.

use bindery_fields::{
    DocType,
    extract::training::{self, ModelKind, PageExamples},
    learn::{
        Calibration, Examples, Forest, ModelFile, StoredModel, TrainOptions,
        calibrate::{Answer, Reliability},
        file::feature_hash,
        train,
    },
    papers::{self, MadePaper, Part},
};
use std::{
    collections::BTreeMap,
    env,
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    process::ExitCode,
};

type Problem = Box<dyn std::error::Error>;

const SEED: u64 = 20_261_116;

/// How many papers a model is trained, calibrated and tested on, and of how many makers. Sums and dates need many kinds of
/// slips; names and labels get no surer by more of them.
#[derive(Debug, Clone, Copy)]
struct Amount {
    papers: usize,
    makers: u32,
}

impl Amount {
    fn new(kind: ModelKind, most: usize) -> Self {
        let (papers, makers) = match kind {
            ModelKind::ReceiptTotal | ModelKind::ReceiptNet | ModelKind::ReceiptTax | ModelKind::ReceiptDate => {
                (8000, 480)
            }
            ModelKind::ReceiptMerchant => (4000, 480),
            ModelKind::LabelledNumber | ModelKind::LabelledDate | ModelKind::LabelledText => (2000, 240),
        };
        Self { papers: most.min(papers), makers }
    }

    /// The numbers of the papers, with or without those that train.
    fn indexes(self, trains: bool) -> impl Iterator<Item = usize> {
        let maker = move |index: usize| index as u32 % self.makers;
        (0..self.papers).filter(move |index| trains || Part::for_maker(maker(*index)) != Part::Train)
    }
}

/// The candidates of one paper for one model.
struct Group {
    found: PageExamples,
    part: Part,
    has_truth: bool,
    /// Whether OCR has read it.
    is_scan: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Problem> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let usage = "usage: train_fields OUT.model REPORT.md [--papers N] [--forests FILE]";
    let (Some(out), Some(report)) = (arguments.first(), arguments.get(1)) else { return Err(usage.into()) };
    let option = |name: &str| arguments.iter().position(|argument| argument == name).map(|at| arguments.get(at + 1));
    let most = match option("--papers") {
        Some(count) => count.ok_or(usage)?.parse()?,
        None => usize::MAX,
    };
    let trained = match option("--forests") {
        Some(file) => Some(ModelFile::from_bytes(&fs::read(file.ok_or(usage)?)?)?),
        None => None,
    };
    let amounts = ModelKind::ALL.iter().map(|kind| Amount::new(*kind, most));
    let papers = amounts.map(|amount| amount.papers).max().unwrap_or(0) as u32;
    let mut file = ModelFile { makers: papers::VERSION, seed: SEED, papers, models: Vec::new() };
    let mut text = String::new();
    let mut scores = String::from("TRAIN");
    for kind in ModelKind::ALL {
        let groups = groups(*kind, Amount::new(*kind, most), trained.is_none())?;
        let trained = trained.as_ref().map(|file| file.model(kind.name(), &kind.features())).transpose()?;
        let (model, right, all) = fit(*kind, &groups, trained.map(|model| model.forest.clone()));
        let share = right as f32 / all.max(1) as f32;
        write!(scores, " {}={share:.3}", kind.name())?;
        describe(&mut text, *kind, &groups, &model, right, all)?;
        writeln!(io::stdout(), "{}: {right} of {all} on test makers", kind.name())?;
        file.models.push(model);
    }
    let bytes = file.to_bytes();
    fs::write(out, &bytes)?;
    fs::write(report, report_text(&text, bytes.len()))?;
    writeln!(io::stdout(), "{scores} bytes={}", bytes.len())?;
    Ok(())
}

/// All papers of a model; without those that train it where its trees are kept.
fn groups(kind: ModelKind, amount: Amount, trains: bool) -> Result<Vec<Group>, Problem> {
    let field = match kind {
        ModelKind::ReceiptTotal => "grand_total",
        ModelKind::ReceiptNet => "net_total",
        ModelKind::ReceiptTax => "tax_total",
        ModelKind::ReceiptMerchant => "merchant",
        ModelKind::ReceiptDate => "date",
        ModelKind::LabelledNumber | ModelKind::LabelledDate | ModelKind::LabelledText => {
            return form_groups(kind, amount, trains);
        }
    };
    let mut groups = Vec::new();
    for index in amount.indexes(trains) {
        let paper = papers::receipt(index as u32 % amount.makers, SEED + index as u64);
        for (paper, is_scan) in as_read(paper, index) {
            let MadePaper { page, truth, maker, .. } = paper;
            let truth = truth.get(field).map(String::as_str);
            let found = training::examples(kind, &page, truth);
            groups.push(Group { found, part: Part::for_maker(maker), has_truth: truth.is_some(), is_scan });
        }
    }
    Ok(groups)
}

/// A paper as printed and, where it is not for training, as OCR reads a scan of it.
fn as_read(paper: MadePaper, index: usize) -> Vec<(MadePaper, bool)> {
    let scan = (Part::for_maker(paper.maker) != Part::Train).then(|| (paper.scanned(SEED + index as u64), true));
    std::iter::once((paper, false)).chain(scan).collect()
}

/// One group for each field of each form.
fn form_groups(kind: ModelKind, amount: Amount, trains: bool) -> Result<Vec<Group>, Problem> {
    let mut groups = Vec::new();
    for index in amount.indexes(trains) {
        let paper = papers::form(index as u32 % amount.makers, SEED + index as u64);
        let doctype = DocType::parse(paper.doctype.as_deref().unwrap_or_default(), "form.yaml")?;
        for (MadePaper { page, truth, maker, .. }, is_scan) in as_read(paper, index) {
            for (own, name, found) in training::labelled_examples(&doctype, &page, &truth) {
                if own == kind {
                    let has_truth = truth.contains_key(&name);
                    groups.push(Group { found, part: Part::for_maker(maker), has_truth, is_scan });
                }
            }
        }
    }
    Ok(groups)
}

fn options(kind: ModelKind) -> TrainOptions {
    let seed = SEED ^ kind as u64;
    match kind {
        ModelKind::ReceiptMerchant => TrainOptions { trees: 140, leaves: 14, seed, ..TrainOptions::default() },
        ModelKind::ReceiptDate => TrainOptions { trees: 50, leaves: 8, seed, ..TrainOptions::default() },
        _ => TrainOptions { trees: 100, leaves: 12, seed, ..TrainOptions::default() },
    }
}

/// The best candidate of a group: its answer, and whether it is true. Candidates that state the same are one.
fn answer(forest: &Forest, group: &Group) -> Option<(Answer, bool)> {
    let found = &group.found;
    let mut by_value: BTreeMap<&str, (f32, usize)> = BTreeMap::new();
    for (index, (value, row)) in found.values.iter().zip(&found.rows).enumerate() {
        let own = by_value.entry(value).or_insert((f32::MIN, index));
        let score = forest.score(row);
        if score > own.0 {
            *own = (score, index);
        }
    }
    let best = by_value.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0).then(b.0.cmp(a.0)))?;
    let others = by_value.iter().filter(|(value, _)| *value != best.0).map(|(_, (score, _))| *score);
    let (score, index) = *best.1;
    Some((Answer::new(score, others).with_ocr(found.ocr[index]), found.is_true[index]))
}

/// The model, and on how many test papers as printed it is right. Trees that are given are kept.
fn fit(kind: ModelKind, groups: &[Group], trained: Option<Forest>) -> (StoredModel, usize, usize) {
    let names = kind.features();
    let forest = trained.unwrap_or_else(|| forest(kind, groups, names.len()));
    let of_part = |part: Part| groups.iter().filter(move |group| group.part == part);
    let answers: Vec<(Answer, bool)> = of_part(Part::Calibrate).filter_map(|group| answer(&forest, group)).collect();
    let calibration = Calibration::fit(&answers);
    let mut reliability = Reliability::default();
    let (mut right, mut all) = (0, 0);
    for group in of_part(Part::Test) {
        let Some((answer, is_right)) = answer(&forest, group) else { continue };
        reliability.add(calibration.confidence(answer), is_right);
        if group.has_truth && !group.is_scan {
            all += 1;
            right += usize::from(is_right);
        }
    }
    let model = StoredModel {
        name: kind.name().to_owned(),
        features: feature_hash(&names),
        width: names.len(),
        forest,
        calibration,
        reliability,
    };
    (model, right, all)
}

fn forest(kind: ModelKind, groups: &[Group], width: usize) -> Forest {
    let mut examples = Examples::new(width);
    let printed = groups.iter().filter(|group| !group.is_scan).enumerate();
    for (index, group) in printed.filter(|(_, group)| group.part == Part::Train) {
        for (row, is_true) in group.found.rows.iter().zip(&group.found.is_true) {
            examples.push(row, *is_true, index as u32);
        }
    }
    train::train(&examples, &options(kind))
}

fn describe(
    text: &mut String,
    kind: ModelKind,
    groups: &[Group],
    model: &StoredModel,
    right: usize,
    all: usize,
) -> Result<(), Problem> {
    let printed = || groups.iter().filter(|group| !group.is_scan);
    let count = |part: Part| printed().filter(|group| group.part == part).count();
    let reachable = printed().filter(|group| group.part == Part::Test && group.found.is_true.contains(&true)).count();
    writeln!(text, "## {}\n", kind.name())?;
    writeln!(
        text,
        "{} papers trained, {} calibrated, {} tested; {} features, {} trees, {} nodes. On test makers {right} of {all} are right ({:.3}); the true value is among the candidates of {reachable}. Expected calibration error {:.3}, scans among them.\n",
        count(Part::Train),
        count(Part::Calibrate),
        count(Part::Test),
        model.width,
        model.forest.starts.len(),
        model.forest.nodes.len(),
        right as f32 / all.max(1) as f32,
        model.reliability.error()
    )?;
    writeln!(text, "| said | papers | right |\n|---|---|---|")?;
    for band in model.reliability.bands.iter().filter(|band| band.count > 0) {
        let count = band.count as f32;
        writeln!(text, "| {:.2} | {} | {:.2} |", band.said / count, band.count, band.right as f32 / count)?;
    }
    writeln!(text)?;
    Ok(())
}

fn report_text(models: &str, bytes: usize) -> String {
    format!(
        "# What the models of fields were trained on\n\n\
         `make train-fields` makes the papers, trains, calibrates and tests, and writes `crates/fields/src/extract/learned/fields.model` and this report. \
         Nothing else is trained on: no document of anybody.\n\n\
         - Makers' version {}, seed {SEED}: receipts, and forms whose labels are meaningless words; {bytes} bytes.\n\
         - A maker is one till: country, words, order of blocks, layout. Six of twelve makers train, three calibrate, three test, so no layout is in two parts.\n\
         - Papers that calibrate and test are read twice, as printed and as OCR reads a scan: there the true values are misread, too, and the words say how sure OCR was of them.\n\
         - Each maker prints a fifth of its labels in words that no list has. Three in five receipts and two in five forms are spoiled as OCR spoils them; the true values stay on the page.\n\n\
         {models}",
        papers::VERSION
    )
}
