export const HEADER = '# Netscape HTTP Cookie File';
export const COOKIE = '.media.example\tTRUE\t/\tFALSE\t2147483647\tsid\ts3cret';
/** Every kind of line that is accepted. */
export const ALL = [
  HEADER,
  '# a comment',
  '#\tTRUE\tin\ta\tcomment\twith\ttabs',
  'no {"JSON"}',
  'no{"JSON"}',
  COOKIE.replace('.media.example\tTRUE', 'media.example\tFALSE'),
  '',
  'words',
  COOKIE,
  `#HttpOnly_${COOKIE}`,
  COOKIE.replace('2147483647', '0'),
  '',
].join('\n');
/** The subdomain flag is TRUE, but the domain has no leading dot. */
export const CONTRADICTION = `${HEADER}\n${COOKIE.slice(1)}\n`;
