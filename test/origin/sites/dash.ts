import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exchange } from '../handler.ts';
import { send, sendFile, typeOf } from '../respond.ts';

const WIDEVINE = `<ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc"/>
<ContentProtection schemeIdUri="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"/>`;

const CHANGES: Readonly<Record<string, (manifest: string) => string>> = {
  'drm/manifest.mpd': (manifest) => manifest.replace(/<AdaptationSet[^>]*>/g, (tag) => `${tag}${WIDEVINE}`),
  'periods/manifest.mpd': (manifest) =>
    manifest.replace(/<Period.*<\/Period>/s, (period) => period + period.replaceAll('"avc1.', '"hvc1.')),
};

/**
 * `/dash/{number,timeline}/manifest.mpd`; `/dash/drm/manifest.mpd` declares Widevine, `/dash/periods/manifest.mpd` has a second period
 * in another codec.
 */
export async function dash(exchange: Exchange): Promise<void> {
  const change = CHANGES[exchange.path];
  if (!change) return sendFile(exchange, `dash/${exchange.path}`);
  send(exchange, typeOf('.mpd'), change(await readFile(join(exchange.mediaDir, 'dash/timeline/manifest.mpd'), 'utf8')));
}
