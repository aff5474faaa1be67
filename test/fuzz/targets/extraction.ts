import { checkCookies } from '../../../core/config/cookies-file.ts';
import { assembleResource, identify } from '../../../core/resolve/item/assemble.ts';
import { readEntries } from '../../../core/resolve/item/list-entries.ts';
import { parseCookies } from '../../../core/resolve/yt-dlp/cookies.ts';
import { readTracks } from '../../../core/resolve/yt-dlp/tracks.ts';
import { isInfo } from '../../../core/resolve/yt-dlp/yt-dlp-info.ts';
import { toResourceInformation } from '../../../lambdas/api/resource-information.ts';
import * as seeds from '../seeds.ts';
import { check, type FuzzTargets, header, LINEAR } from './target.ts';

const NOW = 1_790_000_000;

/** What yt-dlp and operators provide. */
export const extraction: FuzzTargets = {
  'yt-dlp-info': {
    run(input) {
      let info: unknown;
      try {
        info = JSON.parse(input.toString());
      } catch {
        return;
      }
      if (!isInfo(info)) return;
      const origin = { url: 'https://media.example/', ...identify(info) };
      readEntries(info, origin.url);
      try {
        const resource = assembleResource(info, readTracks(info, NOW), { origin, egress: 'direct', now: NOW });
        toResourceInformation({ type: 'Media', resource }, origin.url);
      } catch (error) {
        // NotFound, NotDeliverable and UpstreamError are answers.
        if (error instanceof TypeError || error instanceof RangeError) throw error;
      }
    },
    seeds: [seeds.INFO],
    maxSteps: { fixed: 200_000, perByte: 2000 },
  },
  'cookies-of-yt-dlp': {
    run: (input) => check(parseCookies(header(input), 'cdn.example').length <= 100, 'Too many cookies'),
    seeds: ['a=1; Domain=.cdn.example; Path=/; Secure; b="x\\073\\""; c'],
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
    seeds: ['# Netscape HTTP Cookie File\n.a.example\tTRUE\t/\tTRUE\t0\tn\tv\n'],
    maxSteps: LINEAR,
  },
};
