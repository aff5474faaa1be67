import type { Exchange } from '../handler.ts';

/** Maximum range of the strict rule, in bytes. */
export const STRICT_CHUNK = 256 * 1024;

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
  if (rule === 'open') return undefined;
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
