/** Parameters of Get besides `url`: those of Media and Archive, to which it redirects, and those that select a rendition. */
export const GET_PARAMETERS = [
  'quality',
  'codec',
  'format',
  'bitrate',
  'tags',
  'subtitles',
  'audio',
  'start',
  'end',
  'skip',
  'mark',
  'chapter',
  'split',
  'from',
  'entries',
] as const;

/** Those of Get that Deliver has: it sends no archive, and nothing live. */
export const DELIVERY_PARAMETERS = GET_PARAMETERS.filter((name) => name !== 'split' && name !== 'from');
