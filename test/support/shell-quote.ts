/** A text as one word of a shell. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
