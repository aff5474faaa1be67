import { join } from 'node:path';
import { accessKeys, accessKeysFile, cookiesDir, cookiesFile, extraCaFile, ytDlpPlugins } from './file-settings.ts';
import { addressRanges, sourceAddresses } from './network-settings.ts';
import { anyText, basePath, flag, hostNames, matching, oneOf, proxyUrls, wholeNumber } from './parsers.ts';
import { inScope } from './setting.ts';

/** Holds some hundred resources of average size. */
const MIN_DATA_BYTES = 1024 * 1024;

/** Settings that a host on one machine alone reads from its environment. */
export const oneMachineSettings = inScope('one-machine', {
  host: {
    variable: 'HOST',
    parse: anyText('an address'),
    default: '127.0.0.1',
    description: 'Address to listen on; `0.0.0.0` serves every network of the machine',
  },
  port: {
    variable: 'PORT',
    parse: wholeNumber(0, 65_535),
    default: 8080,
    description: 'Port to listen on; `0` chooses a free one',
  },
  allowedHosts: {
    variable: 'ALLOWED_HOSTS',
    parse: hostNames,
    default: [],
    description:
      'Host names answered besides `localhost`, `127.0.0.1` and `[::1]`; others get 421. Without it, any name is answered on an address that is not loopback',
  },
  basePath: {
    variable: 'BASE_PATH',
    parse: basePath,
    default: '',
    defaultText: 'none',
    description:
      'Path below which a proxy shows the service, such as `/reelay`, whether the proxy removes it or not. It is part of every link. `X-Ingress-Path` of Home Assistant, from `PROXY_ADDRESSES`, comes first',
  },
  accessKeys: {
    variable: 'ACCESS_KEYS',
    parse: accessKeys,
    default: [],
    blankError: 'remove it for an open instance',
    description: 'Makes the instance private: everything but `/api/App` and the page needs one of these keys',
    contextError: 'would lie open in the template: put them into a secret and set accessKeysSecret to its ARN',
  },
  accessKeysFile: {
    variable: 'ACCESS_KEYS_FILE',
    parse: accessKeysFile,
    default: [],
    blankError: 'remove it for an open instance',
    description: 'File with further access keys, one per line, read at the start',
    contextError: 'names a file of one machine: put the keys into a secret and set accessKeysSecret to its ARN',
  },
  dataDir: {
    variable: 'DATA_DIR',
    parse: anyText('a path'),
    default: '.data',
    description: 'Folder of the state table, relative to the working folder; other users lose access to it',
  },
  dataMaxBytes: {
    variable: 'DATA_MAX_BYTES',
    parse: wholeNumber(MIN_DATA_BYTES, 2 ** 40),
    default: 2 ** 30,
    defaultText: '`1073741824` (1 GiB)',
    description: 'Maximum size of the state table; beyond it the keys unused for longest become invalid',
  },
  toolsDir: {
    variable: 'TOOLS_DIR',
    parse: anyText('a path'),
    computeDefault: ({ dataDir }) => join(String(dataDir), 'tools'),
    defaultText: '`tools` in `DATA_DIR`',
    description: 'Folder of yt-dlp and FFmpeg',
  },
  ytDlpPath: {
    variable: 'YT_DLP_PATH',
    parse: anyText('a path'),
    defaultText: 'found or fetched',
    description: 'yt-dlp to run instead; it is neither verified nor updated',
  },
  ffmpegPath: {
    variable: 'FFMPEG_PATH',
    parse: anyText('a path'),
    defaultText: 'found or fetched',
    description: 'FFmpeg to run instead; it is neither verified nor updated',
  },
  outgoingProxies: {
    variable: 'OUTGOING_PROXIES',
    parse: proxyUrls,
    default: [],
    description:
      'Proxies for resolves and streams, in turn. A resource keeps its proxy; a proxy that a site blocks rests for that site',
    contextError: 'would lie open in the template: put it into a secret and set outgoingProxiesSecret to its ARN',
  },
  sourceAddresses: {
    variable: 'SOURCE_ADDRESSES',
    parse: sourceAddresses,
    default: [],
    description:
      'Addresses of this machine to connect from, in turn, where there is no proxy or a site blocks those; 64 of a prefix',
    contextError: 'is for one machine: in AWS set outgoingProxiesSecret',
  },
  extraCaFile: {
    variable: 'EXTRA_CA_FILE',
    parse: extraCaFile,
    defaultText: 'none',
    description:
      'Certificate authorities to trust besides the built-in ones, also by yt-dlp: for networks that inspect TLS',
  },
  cookiesFile: {
    variable: 'COOKIES_FILE',
    parse: cookiesFile,
    description: 'Every client of the service can fetch what the account of these cookies may see',
    contextError: 'would lie open in the template: put it into a secret and set cookiesSecret to its ARN',
  },
  cookiesDir: {
    variable: 'COOKIES_DIR',
    parse: cookiesDir,
    default: [],
    defaultText: 'none',
    description: 'A file of cookies for each site, besides `COOKIES_FILE`; read at each start of yt-dlp',
    contextError: 'would lie open in the template: put the cookies into a secret and set cookiesSecret to its ARN',
  },
  cookiesWriteBack: {
    variable: 'COOKIES_WRITE_BACK',
    parse: flag,
    default: false,
    description: 'Cookies that a site replaces are written into these files, which must be writable',
  },
  ytDlpPlugins: {
    variable: 'YT_DLP_PLUGINS',
    parse: ytDlpPlugins,
    description: 'Plugins run with the rights of this service',
    contextError: 'is a folder: put it into a Lambda layer and set pluginsLayerArn to its ARN',
  },
  maxRequestsPerClient: {
    variable: 'MAX_REQUESTS_PER_CLIENT',
    parse: wholeNumber(0, 1_000_000),
    default: 200,
    description:
      'Requests per second of a client address, ten seconds of them at once. Further ones get 429; a client that continues is not answered. `0`: no limit',
    contextError: 'is for one machine: in AWS the firewall limits requests',
  },
  maxResolvesPerClient: {
    variable: 'MAX_RESOLVES_PER_CLIENT',
    parse: wholeNumber(1, 1000),
    computeDefault: () => 8,
    defaultText: '`8`',
    description: 'Links of a client address (or access key) resolved at once; eight times as many wait, others get 429',
    contextError:
      'has no effect in Lambda, where each link is resolved by an execution of its own: set resolverConcurrency or resolveRate, which bound those of all clients',
  },
  metricsPort: {
    variable: 'METRICS_PORT',
    parse: wholeNumber(0, 65_535),
    description: 'Port of `/metrics` for Prometheus, on `METRICS_HOST`; absent: no metrics',
    contextError: 'is for one machine: in AWS the metrics are in CloudWatch',
  },
  metricsHost: {
    variable: 'METRICS_HOST',
    parse: anyText('an address of this machine'),
    default: '127.0.0.1',
    description: 'Address of `/metrics`, which has no authentication',
    contextError: 'is for one machine: in AWS the metrics are in CloudWatch',
  },
  logFormat: {
    variable: 'LOG_FORMAT',
    parse: oneOf('plain', 'json'),
    default: 'plain',
    description: 'Output and log as plain lines or as one JSON object per line',
    contextError: 'is for one machine: in AWS every log is JSON',
  },
  trustedProxies: {
    variable: 'TRUSTED_PROXIES',
    parse: wholeNumber(0, 16),
    default: 0,
    description:
      'Number of reverse proxies in front whose `X-Forwarded-For` and `-Proto` are trusted, counted from the right; `-Host` as well where `ALLOWED_HOSTS` has the name',
    contextError: 'is known: the edge and the load balancer',
  },
  proxyAddresses: {
    variable: 'PROXY_ADDRESSES',
    parse: addressRanges,
    default: [],
    defaultText: 'any',
    description:
      'Addresses and networks of `TRUSTED_PROXIES`, such as `127.0.0.1` or `172.18.0.0/16`. What connects from elsewhere is believed nothing',
    contextError: 'is known: the edge and the load balancer',
  },
  userHeader: {
    variable: 'USER_HEADER',
    parse: matching(/^[\w-]{1,64}$/, 'the name of a header such as Remote-User'),
    defaultText: 'none',
    description:
      'Header in which a proxy names the user whom it has signed in: limits count users instead of addresses. Needs `PROXY_ADDRESSES`',
    contextError: 'is for one machine: in AWS use accessKeysSecret',
  },
});
