import type { Answer, Exchange } from '../handler.ts';
import { redirect, send } from '../respond.ts';

/**
 * `/redirects/301/files/clip.mp4`: to that path with that status; `/redirects/loop`: to itself; `/redirects/chain/3`: to
 * the clip in three hops; `/redirects/to?url=…`: to any URL; `/redirects/cookie`: to a page that requires a cookie.
 */
export function redirects(exchange: Exchange): Answer {
  const { path, url, response, request } = exchange;
  const [kind = '', ...rest] = path.split('/');
  const hops = Number(rest[0]);
  if (/^30[12378]$/.test(kind)) return redirect(exchange, `/${rest.join('/')}`, Number(kind));
  switch (kind) {
    case 'loop':
      return redirect(exchange, rest[0] === 'back' ? '/redirects/loop' : '/redirects/loop/back');
    case 'endless':
      return redirect(exchange, `/redirects/endless/${(hops || 0) + 1}`);
    case 'chain':
      return redirect(exchange, hops > 1 ? `/redirects/chain/${hops - 1}` : '/files/clip.mp4');
    case 'to':
      return redirect(exchange, url.searchParams.get('url') ?? '/');
    case 'cookie':
      response.setHeader('set-cookie', 'sid=1; Path=/redirects/');
      return redirect(exchange, '/redirects/with-cookie');
    case 'with-cookie':
      if (!request.headers.cookie?.includes('sid=1')) return send(exchange, 'text/plain', 'No cookie', 403);
      return redirect(exchange, '/files/clip.mp4');
    default:
      return send(exchange, 'text/plain', 'Not here', 404);
  }
}
