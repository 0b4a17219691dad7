//! What collecting blocks is like, whatever the XML: one after the other, and now and then aside.

use crate::{
    model::{Block, BlockKind, Inlines},
    package::Element,
};

/// Something that reads elements to blocks.
pub(super) trait Collect {
    /// What was read so far.
    fn out(&mut self) -> &mut Vec<Block>;

    /// Reads one element.
    fn block(&mut self, element: Element<'_>);

    /// Everything in a body, a cell, a text box, a note.
    fn blocks(&mut self, container: Element<'_>) {
        for element in container.elements() {
            self.block(element);
        }
    }

    /// What `read` adds to the output, taken out of it again.
    fn captured(&mut self, read: impl FnOnce(&mut Self)) -> Vec<Block>
    where
        Self: Sized,
    {
        let before = std::mem::take(self.out());
        read(self);
        std::mem::replace(self.out(), before)
    }

    /// Paragraphs of code that follow each other are one piece of code.
    fn code(&mut self, text: &Inlines) {
        let line = text.text();
        if let Some(Block { kind: BlockKind::Code { text }, .. }) = self.out().last_mut() {
            text.push('\n');
            text.push_str(&line);
            return;
        }
        self.out().push(Block::body(BlockKind::Code { text: line }));
    }
}
