//! Writes the tables of PDF files: `pdf_tables OUTDIR FILES...` makes `OUTDIR/NAME.md` for each file, with each table
//! as HTML below a line that says on which page it is and where.

use bindery_reader::{BlockKind, OpenFile, ReadOptions, Rect, Table, pdf};
use std::{
    env,
    fmt::{self, Write as _},
    fs, io,
    path::Path,
    process::ExitCode,
};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let Some(folder) = arguments.next() else { return ExitCode::FAILURE };
    for file in arguments {
        if let Err(error) = write_tables(Path::new(&folder), Path::new(&file)) {
            let _ = io::Write::write_all(&mut io::stderr(), format!("{file}: {error}\n").as_bytes());
        }
    }
    ExitCode::SUCCESS
}

fn write_tables(folder: &Path, file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let pdf = pdf::open(fs::read(file)?, &ReadOptions::default())?;
    let mut out = String::new();
    for index in 0..pdf.info().page_count {
        let Ok(page) = pdf.page(index) else { continue };
        for block in page.blocks {
            if let BlockKind::Table { table } = block.kind {
                let Rect { x0, y0, x1, y1 } = block.bbox.unwrap_or_default();
                writeln!(out, "page {} {x0:.0} {y0:.0} {x1:.0} {y1:.0}", index + 1)?;
                write_html(&mut out, &table)?;
            }
        }
    }
    fs::create_dir_all(folder)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    fs::write(folder.join(format!("{name}.md")), out)?;
    Ok(())
}

fn write_html(out: &mut String, table: &Table) -> fmt::Result {
    writeln!(out, "<table>")?;
    for row in 0..table.rows {
        write!(out, "<tr>")?;
        for cell in table.cells.iter().filter(|cell| cell.row == row) {
            write!(out, "<td")?;
            for (name, span) in [("rowspan", cell.row_span), ("colspan", cell.column_span)] {
                if span > 1 {
                    write!(out, " {name}=\"{span}\"")?;
                }
            }
            let text = cell.text.text().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            write!(out, ">{text}</td>")?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</table>\n")
}
