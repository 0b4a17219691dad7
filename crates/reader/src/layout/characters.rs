//! What kind of character it is, as far as layout cares.

/// Scripts that run from right to left: Hebrew, Arabic and their neighbours, with their presentation forms.
pub(crate) fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// Scripts that set no spaces between words.
pub(crate) fn is_cjk(character: char) -> bool {
    character >= '\u{2E80}'
        && matches!(character,
            '\u{2E80}'..='\u{A4CF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}' | '\u{FF5F}'..='\u{FFDC}' | '\u{20000}'..='\u{3FFFF}')
}

/// Accents that are drawn over the character before.
pub(crate) fn is_mark(character: char) -> bool {
    character >= '\u{300}'
        && matches!(character,
            '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5C7}' | '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{65F}'
            | '\u{670}' | '\u{6D6}'..='\u{6DC}' | '\u{E31}' | '\u{E34}'..='\u{E3A}' | '\u{E47}'..='\u{E4E}' | '\u{20D0}'..='\u{20FF}')
}

/// A hyphen at the end of a line may part a word.
pub(crate) fn is_hyphen(character: char) -> bool {
    matches!(character, '-' | '\u{AD}' | '\u{2010}' | '\u{2011}')
}

/// Signs that begin the points of a list.
pub(crate) fn is_bullet(character: char) -> bool {
    matches!(
        character,
        '•' | '◦'
            | '▪'
            | '▫'
            | '■'
            | '□'
            | '●'
            | '○'
            | '‣'
            | '⁃'
            | '∙'
            | '·'
            | '➢'
            | '➤'
            | '►'
            | '▶'
            | '✓'
            | '✔'
            | '❖'
            | '◆'
            | '◇'
            | '\u{F0B7}'
            | '\u{F0A7}'
            | '\u{F0D8}'
            | '\u{F076}'
            | '\u{F0FC}'
            | '\u{F06E}'
    )
}

/// The bracket that looks the other way.
pub(crate) fn mirrored(character: char) -> char {
    match character {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        other => other,
    }
}
