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
