import { availableMemoryBytes, memoryShares } from './machine-memory.ts';
import { serviceUrl } from './network-settings.ts';
import {
  contacts,
  flag,
  hostNames,
  hostPorts,
  links,
  matching,
  oneOf,
  origins,
  webOrigin,
  wholeNumber,
  ytDlpExtractorArgs,
} from './parsers.ts';
import { inScope } from './setting.ts';
import { impersonate, proxyRules } from './site-rules.ts';

const BYTES_PER_STREAM = 4 * 1024 * 1024;
/** A timer of Node that is set to more than 24.8 days fires at once, and a task waits up to a fifth longer. */
const MAX_UPDATE_HOURS = 24 * 20;

/** Hosts that serve about the first minute of a file to clients without a PO token, and refuse the rest. */
const PARTIAL_HOSTS = ['googlevideo.com'];

/** Settings that a host reads from its environment, on one machine and in AWS. */
export const sharedSettings = inScope('both', {
  publicUrl: {
    variable: 'PUBLIC_URL',
    parse: webOrigin,
    defaultText: 'by the `Host` of the request; in AWS by `domain`',
    description:
      'Origin of absolute links, in feeds and for assistants. In AWS without it and `domain`, those links are relative',
    passedTo: ['resolver'],
  },
  environment: {
    variable: 'REELAY_ENVIRONMENT',
    context: 'reelayEnvironment',
    parse: oneOf('Production', 'Development'),
    default: 'Production',
    description: 'Reported by `/api/App`; `Development` adds the page at `/swagger`',
    passedTo: ['resolver', 'stream-task'],
  },
  corsAllowedOrigins: {
    variable: 'CORS_ALLOWED_ORIGINS',
    parse: origins,
    default: [],
    description: 'Origins whose pages may resolve, play streams and read responses',
    passedTo: ['resolver', 'stream-task'],
  },
  securityContact: {
    variable: 'SECURITY_CONTACT',
    parse: contacts,
    default: [],
    description: 'Where to report vulnerabilities of this instance, served at `/.well-known/security.txt`',
  },
  toolsChannel: {
    variable: 'TOOLS_CHANNEL',
    parse: oneOf('stable', 'nightly'),
    default: 'nightly',
    description: 'Releases of yt-dlp. `nightly`, as yt-dlp advises, has fixes days or weeks before `stable`',
  },
  canaryLinks: {
    variable: 'CANARY_LINKS',
    parse: links,
    default: [],
    description:
      'Links of sites that your instance depends on: a new yt-dlp must resolve them before it replaces the one in use',
  },
  toolsUpdateHours: {
    variable: 'TOOLS_UPDATE_HOURS',
    parse: wholeNumber(0, MAX_UPDATE_HOURS),
    default: 12,
    description: 'Hours between checks for newer tools; `0` updates on command alone',
  },
  egressAllow: {
    variable: 'EGRESS_ALLOW',
    parse: hostPorts,
    default: [],
    description: 'Hosts and ports that may be reached at private addresses',
    passedTo: ['resolver', 'stream-task'],
  },
  proxyRules: {
    variable: 'PROXY_RULES',
    parse: proxyRules,
    default: [],
    description:
      'The outgoing proxy of single sites: `youtube.com=1` (subdomains too), `*.vimeo.com=2`, `example.org=direct`. The first rule that matches applies',
    passedTo: ['resolver', 'stream-task'],
  },
  probedHosts: {
    variable: 'PROBED_HOSTS',
    parse: hostNames,
    default: PARTIAL_HOSTS,
    description:
      'Hosts (subdomains too) whose files may stop after the first minute: bytes past it are tried before a format is offered, and before a stream starts. `off`: none',
    passedTo: ['resolver', 'stream-task'],
  },
  segmentProbes: {
    variable: 'SEGMENT_PROBES',
    parse: wholeNumber(1, 64),
    default: 8,
    description:
      'Requests at once to one host for the sizes of segments of HLS and DASH. More of them are faster, and some hosts refuse that',
    passedTo: ['stream-task'],
  },
  ytDlpExtractorArgs: {
    variable: 'YT_DLP_EXTRACTOR_ARGS',
    parse: ytDlpExtractorArgs,
    separator: ' ',
    default: [],
    defaultText: 'none',
    passedTo: ['resolver', 'stream-task'],
    description: 'As `--extractor-args` of yt-dlp',
  },
  youtubeFallbackClient: {
    variable: 'YOUTUBE_FALLBACK_CLIENT',
    parse: matching(/^[a-z_]+$/, 'a client of YouTube that yt-dlp knows, such as visionos, or off'),
    default: 'visionos',
    passedTo: ['resolver', 'stream-task'],
    description:
      'Client of YouTube as which a video is asked for once more that wants a sign-in, as `player_client` in `YT_DLP_EXTRACTOR_ARGS`, which comes first; an outgoing address for which that fails waits an hour. `off`: none',
  },
  impersonate: {
    variable: 'IMPERSONATE',
    parse: impersonate,
    default: [],
    defaultText: 'none',
    description:
      'Browser that requests of yt-dlp imitate: for all sites (`chrome`) or single ones (`tiktok.com=chrome,*.example.org=safari`). The first rule that matches applies. Needs a yt-dlp with curl_cffi, as the official builds are',
    passedTo: ['resolver', 'stream-task'],
  },
  sponsorblockUrl: {
    variable: 'SPONSORBLOCK_URL',
    parse: serviceUrl('https://sponsor.ajay.app'),
    defaultText: 'none',
    description:
      'Service with the interface of SponsorBlock, for `skip` and `mark`. It receives four hexadecimal digits of a digest of the id of a video. A private address needs an entry in `EGRESS_ALLOW`',
    passedTo: ['resolver', 'stream-task'],
  },
  playlistLimit: {
    variable: 'PLAYLIST_LIMIT',
    parse: wholeNumber(1, 1000),
    default: 200,
    description: 'Maximum entries of a list at once; `offset` asks for further ones',
    passedTo: ['resolver', 'stream-task'],
  },
  search: {
    variable: 'SEARCH',
    parse: flag,
    default: false,
    description: 'Links to search results are resolved, and assistants have a tool that searches',
    passedTo: ['resolver', 'stream-task'],
  },
  maxFfmpeg: {
    variable: 'MAX_FFMPEG',
    parse: wholeNumber(1, 10_000),
    computeDefault: () => memoryShares().ffmpegs,
    defaultText: '4 per core, at most one for each 64 MiB of a quarter of the memory',
    description: 'Maximum FFmpeg processes of a host; beyond it conversions get 503',
    passedTo: ['stream-task'],
  },
  maxStreams: {
    variable: 'MAX_STREAMS',
    parse: wholeNumber(1, 100_000),
    computeDefault: () => Math.ceil(availableMemoryBytes() / 4 / BYTES_PER_STREAM),
    defaultText: 'one for each 4 MiB of a quarter of the memory',
    description: 'Maximum simultaneous streams of a host; further ones get 503',
    passedTo: ['stream-task'],
  },
  maxStreamsPerClient: {
    variable: 'MAX_STREAMS_PER_CLIENT',
    parse: wholeNumber(1, 100_000),
    computeDefault: () => 20,
    defaultText: '`20`',
    description: 'Maximum simultaneous streams of a client address (or access key); further ones get 429',
    passedTo: ['stream-task'],
  },
});
