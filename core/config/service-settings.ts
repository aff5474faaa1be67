import { join } from 'node:path';
import { accessKeys, accessKeysFile } from './access-keys.ts';
import { cookiesDir, cookiesFile, extraCaFile, ytDlpPlugins } from './file-settings.ts';
import { availableMemoryBytes, memoryShares } from './machine-memory.ts';
import { otlpEndpoint, otlpHeaders, sourceAddresses } from './network-settings.ts';
import {
  anyText,
  contacts,
  flag,
  hostNames,
  hostPorts,
  links,
  oneOf,
  origins,
  proxyUrls,
  ratio,
  webOrigin,
  wholeNumber,
  ytDlpExtractorArgs,
} from './parsers.ts';
import type { SettingsTable } from './setting.ts';
import { impersonate, proxyRules } from './site-rules.ts';

/** Holds some hundred resources of average size. */
const MIN_DATA_BYTES = 1024 * 1024;
const BYTES_PER_STREAM = 4 * 1024 * 1024;

/** Hosts that serve about the first minute of a file to clients without a PO token, and refuse the rest. */
const PARTIAL_HOSTS = ['googlevideo.com'];

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
  publicUrl: {
    scope: 'both',
    variable: 'PUBLIC_URL',
    parse: webOrigin,
    defaultText: 'by the `Host` of the request; in AWS by `domain`',
    description:
      'Origin by which clients reach the instance, such as `https://media.example`, for the links in feeds. In AWS without it and `domain`, those links are relative',
    passedTo: ['resolver'],
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
  accessKeys: {
    scope: 'one-machine',
    variable: 'ACCESS_KEYS',
    parse: accessKeys,
    default: [],
    blankError: 'remove it for an open instance',
    description:
      'Makes the instance private: everything but `/api/App` and the page needs one of these keys, 16 characters or more',
    contextError: 'would lie open in the template: put them into a secret and set accessKeysSecret to its ARN',
  },
  accessKeysFile: {
    scope: 'one-machine',
    variable: 'ACCESS_KEYS_FILE',
    parse: accessKeysFile,
    default: [],
    blankError: 'remove it for an open instance',
    description: 'File with further access keys, one per line, read at the start',
    contextError: 'names a file of one machine: put the keys into a secret and set accessKeysSecret to its ARN',
  },
  corsAllowedOrigins: {
    scope: 'both',
    variable: 'CORS_ALLOWED_ORIGINS',
    parse: origins,
    default: [],
    description: 'Origins whose pages may read responses',
    passedTo: ['resolver', 'stream-task'],
  },
  securityContact: {
    scope: 'both',
    variable: 'SECURITY_CONTACT',
    parse: contacts,
    default: [],
    description: 'Where to report vulnerabilities of this instance, served at `/.well-known/security.txt`',
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
    parse: oneOf('auto', 'stable', 'nightly'),
    default: 'auto',
    description:
      'Releases of yt-dlp; `nightly` has fixes earlier, `auto` is `stable` with `nightly` for the sites that need it ([how](operating-one-machine.md#sites-that-a-release-fails))',
  },
  canaryLinks: {
    scope: 'both',
    variable: 'CANARY_LINKS',
    parse: links,
    default: [],
    description:
      'Links of media on sites that your instance depends on, resolved at each check for updates: a site whose link fails with one release of yt-dlp goes to another that resolves it; in AWS no release that fails them replaces the one in use',
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
    description:
      'Proxies for resolves and streams, in turn; a resource keeps the proxy it was resolved through. A proxy that a site blocks rests for that site',
    contextError: 'would lie open in the template: put it into a secret and set outgoingProxiesSecret to its ARN',
  },
  proxyRules: {
    scope: 'both',
    variable: 'PROXY_RULES',
    parse: proxyRules,
    default: [],
    description:
      'The outgoing proxy of single sites: `youtube.com=1` (subdomains too), `*.vimeo.com=2`, `example.org=direct`; the first rule that matches a link applies to its resolve and streams',
    passedTo: ['resolver', 'stream-task'],
  },
  sourceAddresses: {
    scope: 'one-machine',
    variable: 'SOURCE_ADDRESSES',
    parse: sourceAddresses,
    default: [],
    description:
      'Addresses of this machine for resolves and streams, in turn, where `OUTGOING_PROXIES` has none or a site blocks those; of a prefix, 64 addresses are used',
    contextError: 'is for one machine: in AWS set outgoingProxiesSecret',
  },
  probedHosts: {
    scope: 'both',
    variable: 'PROBED_HOSTS',
    parse: hostNames,
    default: PARTIAL_HOSTS,
    description:
      'Hosts (subdomains too) whose files may stop after the first minute: a stream reads some bytes past it before it starts. `off`: none',
    passedTo: ['stream-task'],
  },
  extraCaFile: {
    scope: 'one-machine',
    variable: 'EXTRA_CA_FILE',
    parse: extraCaFile,
    defaultText: 'none',
    description:
      'PEM file of certificate authorities to trust besides the built-in ones, for every outgoing request and for yt-dlp: for networks that inspect TLS',
  },
  cookiesFile: {
    scope: 'one-machine',
    variable: 'COOKIES_FILE',
    parse: cookiesFile,
    description: 'Netscape cookies file; every client of the service can fetch what its account may see',
    contextError: 'would lie open in the template: put it into a secret and set cookiesSecret to its ARN',
  },
  cookiesDir: {
    scope: 'one-machine',
    variable: 'COOKIES_DIR',
    parse: cookiesDir,
    default: [],
    defaultText: 'none',
    description:
      'Folder with a Netscape cookies file for each site (`youtube.com.txt`), used together with `COOKIES_FILE`; read at each start of yt-dlp',
    contextError: 'would lie open in the template: put the cookies into a secret and set cookiesSecret to its ARN',
  },
  cookiesWriteBack: {
    scope: 'one-machine',
    variable: 'COOKIES_WRITE_BACK',
    parse: flag,
    default: false,
    description:
      'Whether cookies that a site replaces are written into `COOKIES_FILE` and the files of `COOKIES_DIR`, which must be writable',
  },
  ytDlpPlugins: {
    scope: 'one-machine',
    variable: 'YT_DLP_PLUGINS',
    parse: ytDlpPlugins,
    description: 'Folder of yt-dlp plugins; they are programs that run with the rights of this service',
    contextError: 'is a folder: put it into a Lambda layer and set pluginsLayerArn to its ARN',
  },
  ytDlpExtractorArgs: {
    scope: 'both',
    variable: 'YT_DLP_EXTRACTOR_ARGS',
    parse: ytDlpExtractorArgs,
    separator: ' ',
    default: [],
    defaultText: 'none',
    passedTo: ['resolver', 'stream-task'],
    description: 'Arguments for extractors, as `--extractor-args` of yt-dlp, separated by blanks',
  },
  impersonate: {
    scope: 'both',
    variable: 'IMPERSONATE',
    parse: impersonate,
    default: [],
    defaultText: 'none',
    description:
      'Browser that requests of yt-dlp imitate, in TLS and headers: of all sites (`chrome`) or of single ones (`tiktok.com=chrome,*.example.org=safari`); the first rule that matches applies. Needs a build of yt-dlp with curl_cffi, as the official ones are',
    passedTo: ['resolver', 'stream-task'],
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
    description:
      'Links of one client address (or access key) resolved at once; eight times as many wait, others are answered with 429',
    passedTo: ['resolver', 'stream-task'],
  },
  maxFfmpeg: {
    scope: 'both',
    variable: 'MAX_FFMPEG',
    parse: wholeNumber(1, 10_000),
    computeDefault: () => memoryShares().ffmpegs,
    defaultText: '4 per core, at most one for each 64 MiB of a quarter of the memory',
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
    description:
      'Maximum number of simultaneous streams of one client address (or access key); further ones are answered with 429',
    passedTo: ['stream-task'],
  },
  maxRequestsPerClient: {
    scope: 'one-machine',
    variable: 'MAX_REQUESTS_PER_CLIENT',
    parse: wholeNumber(0, 1_000_000),
    default: 200,
    description:
      'Requests per second of one client address, over time; ten seconds of them at once. Further ones are answered with 429, and who goes on is not answered. `0`: no limit',
    contextError: 'is for one machine: in AWS the firewall limits requests',
  },
  metricsPort: {
    scope: 'one-machine',
    variable: 'METRICS_PORT',
    parse: wholeNumber(0, 65_535),
    description: 'Port of `/metrics` for Prometheus, on `METRICS_HOST`; absent: no metrics',
    contextError: 'is for one machine: in AWS the metrics are in CloudWatch',
  },
  metricsHost: {
    scope: 'one-machine',
    variable: 'METRICS_HOST',
    parse: anyText('an address of this machine'),
    default: '127.0.0.1',
    description: 'Address of `/metrics`, which has no authentication',
    contextError: 'is for one machine: in AWS the metrics are in CloudWatch',
  },
  otlpEndpoint: {
    scope: 'one-machine',
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    parse: otlpEndpoint,
    description:
      'Receiver of OpenTelemetry traces (OTLP over HTTP), to which `/v1/traces` is added; absent: no traces. Reached directly, past proxies and the egress guard',
    contextError: 'is for one machine: in AWS the traces are in X-Ray',
  },
  otlpHeaders: {
    scope: 'one-machine',
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    parse: otlpHeaders,
    default: [],
    defaultText: 'none',
    description:
      'Headers for the receiver, such as its credentials: `name=value`, percent-encoded, separated by commas',
    contextError: 'is for one machine: in AWS the traces are in X-Ray',
  },
  otelServiceName: {
    scope: 'one-machine',
    variable: 'OTEL_SERVICE_NAME',
    parse: anyText('a name'),
    default: 'reelay',
    description: 'Name of this instance in traces',
    contextError: 'is for one machine: in AWS the traces are in X-Ray',
  },
  otelTracesSampler: {
    scope: 'one-machine',
    variable: 'OTEL_TRACES_SAMPLER',
    parse: oneOf(
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
      'always_on',
      'always_off',
      'traceidratio',
    ),
    default: 'parentbased_always_on',
    description: 'Which requests are traced; `parentbased_…` follows the `traceparent` of a request first',
    contextError: 'is for one machine: in AWS the traces are in X-Ray',
  },
  otelTracesSamplerArg: {
    scope: 'one-machine',
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    parse: ratio,
    default: 1,
    description: 'Share of requests that the samplers by `traceidratio` trace',
    contextError: 'is for one machine: in AWS the traces are in X-Ray',
  },
  trustedProxies: {
    scope: 'one-machine',
    variable: 'TRUSTED_PROXIES',
    parse: wholeNumber(0, 16),
    default: 0,
    description:
      'Number of reverse proxies in front of the service whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted, counted from the right; `X-Forwarded-Host` as well where `ALLOWED_HOSTS` has the name',
    contextError: 'is known: the edge and the load balancer',
  },
} as const satisfies SettingsTable;
