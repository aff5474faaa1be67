import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { cookiesFile } from './cookies-file.ts';
import { flag, hostPorts, oneOf, origins, proxyUrls, wholeNumber } from './parsers.ts';

/** The environment, read once and validated. Every other room gets values as arguments. */
export interface Settings {
  /** Address to listen on. @default '127.0.0.1': nobody else is served unless the operator says so */
  readonly host: string;
  /** 0: a free one. @default 8080 */
  readonly port: number;
  /** @default 'Production' */
  readonly environment: 'Production' | 'Development';
  /** Origins whose pages may read answers, or `*`. @default none */
  readonly corsAllowedOrigins: readonly string[];
  /** @default '.data' in the working folder */
  readonly dataDir: string;
  /** @default 'tools' in the data folder */
  readonly toolsDir: string;
  readonly toolsChannel: 'stable' | 'nightly';
  /** Hours between looks for newer tools; 0: never. @default 12 */
  readonly toolsUpdateHours: number;
  readonly ytDlpPath?: string;
  readonly ffmpegPath?: string;
  /** `host:port` pairs that the egress guard admits though their addresses are private. */
  readonly egressAllow: readonly string[];
  /** Proxies that resolves and streams leave through, in turn. */
  readonly outgoingProxies: readonly string[];
  /** Netscape cookies file, an absolute path: whoever asks is served what that account may see. */
  readonly cookiesFile?: string;
  /** Entries of a playlist at most. @default 200 */
  readonly playlistLimit: number;
  /** Whether links to search results are resolved. @default false */
  readonly search: boolean;
  /** FFmpeg processes at once. @default 4 a core */
  readonly maxFfmpeg: number;
  /** Streams at once. @default one for each 4 MiB of a quarter of the memory: what a stream may hold */
  readonly maxStreams: number;
  /** Streams at once of one client address. @default 20 */
  readonly maxStreamsPerClient: number;
  /** Proxies in front of this service whose X-Forwarded-For is believed. @default 0 */
  readonly trustedProxies: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

const BYTES_OF_A_STREAM = 4 * 1024 * 1024;
const FFMPEGS_OF_A_CORE = 4;

/** Bytes this process may have: a container's bound where there is one. */
const memory = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

/**
 * Looks at no file but the cookies: those are checked before anything starts.
 * @throws SettingError in one line that names the setting
 */
export function readSettings(environment: Environment): Settings {
  /** What is blank counts as not set. */
  const read = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const parse = <T, U = T>(name: string, parser: (name: string, text: string) => T, otherwise: U): T | U => {
    const text = read(name);
    return text === undefined ? otherwise : parser(name, text);
  };
  const dataDir = read('DATA_DIR') ?? '.data';
  const ytDlpPath = read('YT_DLP_PATH');
  const ffmpegPath = read('FFMPEG_PATH');
  const cookies = parse('COOKIES_FILE', cookiesFile, undefined);

  return {
    host: read('HOST') ?? '127.0.0.1',
    port: parse('PORT', wholeNumber(0, 65_535), 8080),
    environment: parse('REELAY_ENVIRONMENT', oneOf('Production', 'Development'), 'Production'),
    corsAllowedOrigins: parse('CORS_ALLOWED_ORIGINS', origins, []),
    dataDir,
    toolsDir: read('TOOLS_DIR') ?? join(dataDir, 'tools'),
    toolsChannel: parse('TOOLS_CHANNEL', oneOf('stable', 'nightly'), 'stable'),
    toolsUpdateHours: parse('TOOLS_UPDATE_HOURS', wholeNumber(0, 24 * 30), 12),
    ...(ytDlpPath && { ytDlpPath }),
    ...(ffmpegPath && { ffmpegPath }),
    egressAllow: parse('EGRESS_ALLOW', hostPorts, []),
    outgoingProxies: parse('OUTGOING_PROXIES', proxyUrls, []),
    ...(cookies && { cookiesFile: cookies }),
    playlistLimit: parse('PLAYLIST_LIMIT', wholeNumber(1, 1000), 200),
    search: parse('SEARCH', flag, false),
    maxFfmpeg: parse('MAX_FFMPEG', wholeNumber(1, 10_000), availableParallelism() * FFMPEGS_OF_A_CORE),
    maxStreams: parse('MAX_STREAMS', wholeNumber(1, 100_000), Math.ceil(memory() / 4 / BYTES_OF_A_STREAM)),
    maxStreamsPerClient: parse('MAX_STREAMS_PER_CLIENT', wholeNumber(1, 100_000), 20),
    trustedProxies: parse('TRUSTED_PROXIES', wholeNumber(0, 16), 0),
  };
}
