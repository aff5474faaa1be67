import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { cookiesFile } from './cookies-file.ts';
import { anyText, flag, hostNames, hostPorts, oneOf, origins, proxyUrls, wholeNumber } from './parsers.ts';
import type { SettingsTable } from './setting.ts';

/** Holds some hundred resources of average size. */
const MIN_DATA_BYTES = 1024 * 1024;
const BYTES_PER_STREAM = 4 * 1024 * 1024;
const FFMPEG_PROCESSES_PER_CORE = 4;

/** Memory available to this process in bytes: the limit of its container where there is one. */
const availableMemoryBytes = (): number =>
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

/** Settings that a running host reads from its environment. */
export const serviceSettings = {
  host: {
    scope: 'one-machine',
    variable: 'HOST',
    parse: anyText('an address'),
    default: '127.0.0.1',
    description: 'Address to listen on; `0.0.0.0` serves every host that can reach the machine',
  },
  port: {
    scope: 'one-machine',
    variable: 'PORT',
    parse: wholeNumber(0, 65_535),
    default: 8080,
    description: 'Port to listen on; `0` chooses a free one',
  },
  allowedHosts: {
    scope: 'one-machine',
    variable: 'ALLOWED_HOSTS',
    parse: hostNames,
    default: [],
    description:
      'Host names answered besides `localhost`, `127.0.0.1` and `[::1]`; others get 421. Without it, an address that is not loopback answers any name',
  },
  environment: {
    scope: 'both',
    variable: 'REELAY_ENVIRONMENT',
    context: 'reelayEnvironment',
    parse: oneOf('Production', 'Development'),
    default: 'Production',
    description: 'Reported by `/api/App`; `Development` adds the page at `/swagger`',
    passedTo: ['resolver', 'stream-task'],
  },
  corsAllowedOrigins: {
    scope: 'both',
    variable: 'CORS_ALLOWED_ORIGINS',
    parse: origins,
    default: [],
    description: 'Origins whose pages may read responses',
    passedTo: ['resolver', 'stream-task'],
  },
  dataDir: {
    scope: 'one-machine',
    variable: 'DATA_DIR',
    parse: anyText('a path'),
    default: '.data',
    description: 'Folder of the state table, relative to the working folder; other users lose access to it',
  },
  dataMaxBytes: {
    scope: 'one-machine',
    variable: 'DATA_MAX_BYTES',
    parse: wholeNumber(MIN_DATA_BYTES, 2 ** 40),
    default: 2 ** 30,
    defaultText: '`1073741824` (1 GiB)',
    description: 'Maximum size of the state table; beyond it the keys that were not used for longest become invalid',
  },
  toolsDir: {
    scope: 'one-machine',
    variable: 'TOOLS_DIR',
    parse: anyText('a path'),
    computeDefault: ({ dataDir }) => join(String(dataDir), 'tools'),
    defaultText: '`tools` in `DATA_DIR`',
    description: 'Folder of yt-dlp and FFmpeg',
  },
  toolsChannel: {
    scope: 'both',
    variable: 'TOOLS_CHANNEL',
    parse: oneOf('stable', 'nightly'),
    default: 'stable',
    description: 'Release channel of yt-dlp; `nightly` has fixes earlier',
  },
  toolsUpdateHours: {
    scope: 'both',
    variable: 'TOOLS_UPDATE_HOURS',
    parse: wholeNumber(0, 24 * 30),
    default: 12,
    description: 'Hours between checks for newer tools; `0` updates on command alone',
  },
  ytDlpPath: {
    scope: 'one-machine',
    variable: 'YT_DLP_PATH',
    parse: anyText('a path'),
    defaultText: 'found or fetched',
    description: 'yt-dlp to run instead; it is neither verified nor updated',
  },
  ffmpegPath: {
    scope: 'one-machine',
    variable: 'FFMPEG_PATH',
    parse: anyText('a path'),
    defaultText: 'found or fetched',
    description: 'FFmpeg to run instead; it is neither verified nor updated',
  },
  egressAllow: {
    scope: 'both',
    variable: 'EGRESS_ALLOW',
    parse: hostPorts,
    default: [],
    description: 'Hosts and ports that may be reached although their addresses are private',
    passedTo: ['resolver', 'stream-task'],
  },
  outgoingProxies: {
    scope: 'one-machine',
    variable: 'OUTGOING_PROXIES',
    parse: proxyUrls,
    default: [],
    description: 'Proxies for resolves and streams, in turn; a resource keeps the proxy it was resolved through',
    contextError: 'would lie open in the template: put it into a secret and set outgoingProxiesSecret to its ARN',
  },
  cookiesFile: {
    scope: 'one-machine',
    variable: 'COOKIES_FILE',
    parse: cookiesFile,
    description: 'Netscape cookies file; every client of the service can fetch what its account may see',
    contextError: 'would lie open in the template: put it into a secret and set cookiesSecret to its ARN',
  },
  playlistLimit: {
    scope: 'both',
    variable: 'PLAYLIST_LIMIT',
    parse: wholeNumber(1, 1000),
    default: 200,
    description: 'Maximum number of entries of a playlist; the rest is cut off',
    passedTo: ['resolver', 'stream-task'],
  },
  search: {
    scope: 'both',
    variable: 'SEARCH',
    parse: flag,
    default: false,
    description: 'Whether links to search results are resolved',
    passedTo: ['resolver', 'stream-task'],
  },
  maxResolvesPerClient: {
    scope: 'both',
    variable: 'MAX_RESOLVES_PER_CLIENT',
    parse: wholeNumber(1, 1000),
    computeDefault: () => 8,
    defaultText: '`8`',
    description: 'Links of one client address resolved at once; eight times as many wait, others are answered with 429',
    passedTo: ['resolver', 'stream-task'],
  },
  maxFfmpeg: {
    scope: 'both',
    variable: 'MAX_FFMPEG',
    parse: wholeNumber(1, 10_000),
    computeDefault: () => availableParallelism() * FFMPEG_PROCESSES_PER_CORE,
    defaultText: `${FFMPEG_PROCESSES_PER_CORE} per core`,
    description: 'Maximum number of FFmpeg processes of one host; further conversions are answered with 503',
    passedTo: ['stream-task'],
  },
  maxStreams: {
    scope: 'both',
    variable: 'MAX_STREAMS',
    parse: wholeNumber(1, 100_000),
    computeDefault: () => Math.ceil(availableMemoryBytes() / 4 / BYTES_PER_STREAM),
    defaultText: 'one for each 4 MiB of a quarter of the memory',
    description: 'Maximum number of simultaneous streams of one host; further streams are answered with 503',
    passedTo: ['stream-task'],
  },
  maxStreamsPerClient: {
    scope: 'both',
    variable: 'MAX_STREAMS_PER_CLIENT',
    parse: wholeNumber(1, 100_000),
    computeDefault: () => 20,
    defaultText: '`20`',
    description: 'Maximum number of simultaneous streams of one client address; further ones are answered with 429',
    passedTo: ['stream-task'],
  },
  trustedProxies: {
    scope: 'one-machine',
    variable: 'TRUSTED_PROXIES',
    parse: wholeNumber(0, 16),
    default: 0,
    description: 'Number of reverse proxies in front of the service whose `X-Forwarded-For` is trusted',
    contextError: 'is known: the edge and the load balancer',
  },
} as const satisfies SettingsTable;
