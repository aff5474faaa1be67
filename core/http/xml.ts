/** Characters that XML 1.0 cannot contain, not even escaped (§2.2): most controls, lone surrogates, and two noncharacters. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** The first line of a document. */
export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Text for an element or a quoted attribute. */
export const escapeXml = (text: string): string =>
  text.replace(FORBIDDEN, '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** An element; without content it is left out. Attributes that are undefined are left out. */
export function element(
  name: string,
  content: string | undefined,
  attributes: Readonly<Record<string, string | undefined>> = {},
): string {
  if (content === undefined) return '';
  const quoted = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeXml(value ?? '')}"`);
  return content === '' ? `<${name}${quoted.join('')}/>` : `<${name}${quoted.join('')}>${content}</${name}>`;
}

/** An element of plain text; without text it is left out. */
export const textElement = (name: string, text: string | null | undefined): string =>
  element(name, text ? escapeXml(text) : undefined);
