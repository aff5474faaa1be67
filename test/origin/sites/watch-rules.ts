import type { Exchange } from '../handler.ts';

/** Maximum range of the strict rule, in bytes. */
export const STRICT_CHUNK = 256 * 1024;

/** Bytes that the rule `first-minute` serves: a minute or more of the long files. */
const FIRST_MINUTE_BYTES = 1024 * 1024;

/** The rule of a file as a resolve names it: some items change it after the first one. */
export function ruleOf(kind: string, rule: string, formatId: string, isFirstResolve: boolean): string {
  if (kind === 'limited-once' && isFirstResolve) return 'first-minute';
  if (kind === 'limited-later' && !isFirstResolve && formatId === 'long-audio') return 'first-minute';
  if (kind === 'limited-best' && formatId.startsWith('long-')) return 'first-minute';
  return rule;
}

/**
 * Returns why a media request is refused; undefined when it is served.
 * @param generation URLs of earlier generations have expired
 */
export function refusal({ request, url }: Exchange, rule: string, generation: number): string | undefined {
  const { headers, method } = request;
  const token = url.searchParams.get('token');
  if (token !== null && Number(token.split('.')[0]) < generation) return 'Expired';
  const expire = url.searchParams.get('expire');
  if (expire !== null && Number(expire) <= Date.now() / 1000) return 'Expired';
  if (Number(url.searchParams.get('from') ?? 0) > Date.now() / 1000) return 'Not yet';
  const { remoteAddress = '' } = request.socket;
  const client = url.searchParams.get('client');
  if (client !== null && client !== remoteAddress) return 'Another address';
  if (url.searchParams.get('refuse')?.split(',').includes(remoteAddress)) return 'Blocked';
  if (rule === 'open') return undefined;
  if (rule === 'first-minute') {
    const last = Number(/-(\d+)$/.exec(headers.range ?? '')?.[1] ?? Number.POSITIVE_INFINITY);
    return last < FIRST_MINUTE_BYTES ? undefined : 'Only the first minute';
  }
  if (headers.referer !== `${url.origin}/`) return 'Wrong Referer';
  if (rule === 'referer') return undefined;

  if (method === 'HEAD') return 'No HEAD';
  if (headers['x-format'] !== url.searchParams.get('formatId')) return 'Header of another format';
  if (!headers.cookie?.includes('watch=let-me-in')) return 'No cookie';
  if (headers.cookie.includes('elsewhere')) return 'A cookie that belongs elsewhere';
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
  if (first === undefined || last === undefined) return 'Bounded ranges only';
  return Number(last) - Number(first) >= STRICT_CHUNK ? 'Too much at once' : undefined;
}
