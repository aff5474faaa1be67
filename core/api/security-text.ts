/** Where a contact for vulnerabilities is expected (RFC 9116). */
export const SECURITY_TEXT_PATH = '/.well-known/security.txt';

/** RFC 9116 recommends less than a year. */
export const SECURITY_TEXT_VALID_MS = 180 * 24 * 3_600_000;

/** The document at that path up to the time when it expires, which follows. @param contacts URIs, the preferred first */
export const contactLines = (contacts: readonly string[]): string =>
  `${contacts.map((uri) => `Contact: ${uri}\n`).join('')}Expires: `;

/** The document at that path (RFC 9116 §2). @param contacts URIs of `SECURITY_CONTACT` */
export const securityText = (contacts: readonly string[], nowMs = Date.now()): string =>
  `${contactLines(contacts)}${new Date(nowMs + SECURITY_TEXT_VALID_MS).toISOString()}\n`;
