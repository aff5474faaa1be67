import { checkCookies } from '../../../core/config/file-settings.ts';
import { InvalidExtraction, parseExtraction } from '../../../core/parsing/extraction.ts';
import { readEntries } from '../../../core/resolve/playlist.ts';
import { selectRenditions } from '../../../core/resolve/renditions/select-renditions.ts';
import { assembleResource } from '../../../core/resolve/save-item.ts';
import { identify } from '../../../core/resolve/yt-dlp/metadata.ts';
import { parseCookies } from '../../../core/resolve/yt-dlp/requests.ts';
import { readTracks } from '../../../core/resolve/yt-dlp/tracks.ts';
import { toResourceInformation } from '../../../lambdas/api/get-resource.ts';
import * as seeds from '../../../packages/seekable-media/test/seeds.ts';
import { readFailure } from '../../../packages/yt-dlp-worker/src/worker/link-processes.ts';
import { check, type FuzzTargets, header, LINEAR, MB } from './target.ts';

const NOW = 1_790_000_000;

/** What yt-dlp and operators provide. */
export const extraction: FuzzTargets = {
  'yt-dlp-info': {
    run(input) {
      const { info } = parseExtraction(Buffer.concat([Buffer.from('{"ok":true,"info":'), input, Buffer.from('}')]));
      const origin = { url: 'https://media.example/', ...identify(info) };
      readEntries(info, origin.url);
      try {
        const resource = assembleResource(info, selectRenditions(readTracks(info, NOW)), {
          origin,
          egress: 'direct',
          now: NOW,
        });
        toResourceInformation({ type: 'Media', resource }, origin.url);
      } catch (error) {
        // NotFound, NotDeliverable and UpstreamError are answers.
        if (error instanceof TypeError || error instanceof RangeError) throw error;
      }
    },
    errors: [InvalidExtraction],
    seeds: [seeds.INFO],
    maxBytes: 16 * MB,
    maxInlineBytes: MB / 4,
    maxSteps: { fixed: 200_000, perByte: 2000 },
  },
  'failure-report': {
    run(input) {
      check((readFailure(input.toString()).message ?? '').length <= 600, 'A message that is not cut');
    },
    maxBytes: 16 * MB,
    maxInlineBytes: 16 * MB,
    maxSteps: { fixed: 50_000, perByte: 200 },
  },
  'cookies-of-yt-dlp': {
    run: (input) => check(parseCookies(header(input), 'cdn.example').length <= 100, 'Too many cookies'),
    maxSteps: LINEAR,
  },
  'cookies-file': {
    run(input) {
      try {
        checkCookies('COOKIES_FILE', input);
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'SettingError') throw error;
      }
    },
    maxSteps: LINEAR,
  },
};
