/** ISO 639-1 and ISO 639-2/T of languages that sites have subtitles in. */
const THREE_LETTERS: Readonly<Record<string, string>> = {
  ...{ ar: 'ara', bg: 'bul', bn: 'ben', ca: 'cat', cs: 'ces', cy: 'cym', da: 'dan', de: 'deu', el: 'ell', en: 'eng' },
  ...{ es: 'spa', et: 'est', eu: 'eus', fa: 'fas', fi: 'fin', fr: 'fra', ga: 'gle', gl: 'glg', he: 'heb', hi: 'hin' },
  ...{ hr: 'hrv', hu: 'hun', id: 'ind', is: 'isl', it: 'ita', iw: 'heb', ja: 'jpn', ko: 'kor', lt: 'lit', lv: 'lav' },
  ...{ mr: 'mar', ms: 'msa', nb: 'nob', nl: 'nld', nn: 'nno', no: 'nor', pl: 'pol', pt: 'por', ro: 'ron', ru: 'rus' },
  ...{ sk: 'slk', sl: 'slv', sr: 'srp', sv: 'swe', sw: 'swa', ta: 'tam', te: 'tel', th: 'tha', tr: 'tur', uk: 'ukr' },
  ...{ ur: 'urd', vi: 'vie', zh: 'zho' },
};

/** The language in three letters (ISO 639-2/T); `und` where they are unknown. @param language BCP 47 */
export function languageCode(language: string): string {
  const [primary = ''] = language.toLowerCase().split('-');
  return /^[a-z]{3}$/.test(primary) ? primary : (THREE_LETTERS[primary] ?? 'und');
}

/** The language field of `mdhd` (ISO/IEC 14496-12 §8.4.2): three letters of 5 bits each. @param language BCP 47 */
export function packLanguage(language: string): number {
  return [...languageCode(language)].reduce((packed, letter) => packed * 32 + letter.charCodeAt(0) - 0x60, 0);
}
