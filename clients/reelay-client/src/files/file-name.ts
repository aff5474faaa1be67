/** Bytes of a name that every common file system takes, with room for the suffix of an unfinished file. */
const MAX_BYTES = 240;
/** Names of devices on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** Separators, what Windows forbids, and control characters, among them those that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a terminal or a file system
const FORBIDDEN = /[/\\:*?"<>|\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name that is fit for any file system, in the folder it is put in: an instance may send any text. */
export function safeFileName(name: string): string {
  const cleaned = name
    .toWellFormed()
    .replaceAll(FORBIDDEN, '_')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  const [, stem = '', extension = ''] = /^(.*?)(\.[^.\s]{1,10})?$/su.exec(cleaned) ?? [];
  const whole = cutText(stem, MAX_BYTES - Buffer.byteLength(extension)) + extension;
  return DEVICE.test(whole) || whole === '' ? `_${whole}` : whole;
}

/** The beginning of a text that takes no more bytes in UTF-8, without a part of a character as readers see it. */
export function cutText(text: string, maxBytes: number): string {
  let end = 0;
  let bytes = 0;
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    bytes += Buffer.byteLength(segment);
    if (bytes > maxBytes) break;
    end += segment.length;
  }
  return text.slice(0, end);
}
