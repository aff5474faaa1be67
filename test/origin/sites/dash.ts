import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange } from '../handler.ts';
import { send, sendFile, typeOf } from '../respond.ts';

const WIDEVINE = `<ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc"/>
<ContentProtection schemeIdUri="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"/>`;

/** `/dash/{number,timeline}/manifest.mpd`; `/dash/drm/manifest.mpd` declares Widevine. */
export async function dash(exchange: Exchange): Promise<void> {
  if (exchange.path !== 'drm/manifest.mpd') return sendFile(exchange, `dash/${exchange.path}`);
  const clear = await readFile(join(exchange.mediaDir, 'dash/timeline/manifest.mpd'), 'utf8');
  send(
    exchange,
    typeOf('.mpd'),
    clear.replace(/<AdaptationSet[^>]*>/g, (tag) => `${tag}${WIDEVINE}`),
  );
}
