import type { WorkerFailure, WorkerFailureKind } from './worker-protocol.ts';

const MAX_MESSAGE_LENGTH = 600;
/** Limits what is read of stderr: yt-dlp writes a few lines of diagnostics, and one report per failed entry. */
const MAX_REPORT_LENGTH = 256 * 1024;

const ERROR = /^ERROR: /m;
/** The beginning of the message of an `ExtractorError`: `[Site] id: message`. */
const EXTRACTOR = /^\[([^\]\s]+)\] (?:[^\s:]+: )?/;
const CAUSE = / \(caused by .*$/s;
/** yt-dlp says this of a video that has images alone. */
const IMAGES_ALONE = /^Requested format is not available/;
const BUG_REPORT = /[;.]? please report this issue on .*$/is;
/** A frame of a Python traceback. */
const FRAME = /^ {2}File ".*", line \d+, in (?:[\w<>]+\.)*(\w+)$/gm;
/** The last line of a Python traceback: the exception class with its module, and the message. */
const CLASS = /^(?:[A-Za-z_]\w*\.)*([A-Z]\w*)(?=:|$)/gm;
const TRACEBACK = /^(?:Traceback \(most recent call last\):| {2}File ")/m;
/** The status of a failed CONNECT, in messages of urllib3, http.client and curl. */
const TUNNEL_STATUS = /tunnel (?:connection )?failed\D{0,99}(\d{3})/i;

/** One error report of yt-dlp, parsed. */
interface Report {
  readonly text: string;
  readonly message: string;
  readonly extractor: string | undefined;
  readonly isExtractorError: boolean;
  readonly expected: boolean;
  readonly httpStatus: number | undefined;
  /** Names of the functions on the stacks. */
  readonly frames: ReadonlySet<string>;
  readonly classes: readonly string[];
}

/**
 * Classifies the first error that `yt-dlp --verbose` reports on stderr, as the warm worker does (`_reelay_failures.py`): by
 * exception classes and by the reporting helpers on the stack, both in the traceback.
 * @returns the kind `crash` when yt-dlp reports none
 */
export function readFailure(stderr: string): WorkerFailure {
  const text = firstReport(stderr);
  if (text === undefined) return { kind: 'crash', message: lastLine(stderr).slice(0, MAX_MESSAGE_LENGTH) };
  const report = parseReport(text);
  const { message, extractor, expected, isExtractorError, classes } = report;
  const { kind, httpStatus } = withWarnings({ kind: kindOf(report), httpStatus: report.httpStatus }, expected, stderr);
  return {
    kind,
    message: message.slice(0, MAX_MESSAGE_LENGTH),
    ...(extractor !== undefined && { extractor }),
    ...(isExtractorError && { expected }),
    ...(httpStatus !== undefined && { httpStatus }),
    ...(classes.length > 0 && { classes }),
  };
}

/** Whether a warning says that a request took too long: yt-dlp then continues without what it would have returned. */
export const hasTimedOut = (stderr: string): boolean => /^WARNING: .*\btimed out\b/im.test(stderr);

/** The site has refused a request, or has no formats with URLs, or none of all periods (`_reelay_periods.py`). */
const REFUSED = /^WARNING: .*HTTP Error (403|429)\b/gm;
const UNREADABLE = /^(?:WARNING: |\[debug\] ).*\bmissing a URL\b/m;
const SEPARATE = /^WARNING: .*\bperiods of this manifest do not make one file$/m;

type Kind = Pick<WorkerFailure, 'kind'> & { readonly httpStatus: number | undefined };

/** Extractors that try several addresses only warn of refusals, and then fail in a way that does not say so. */
function withWarnings(found: Kind, expected: boolean, stderr: string): Kind {
  if (expected || (found.kind !== 'bug' && found.kind !== 'no_formats')) return found;
  const refused = [...stderr.slice(0, MAX_REPORT_LENGTH).matchAll(REFUSED)].at(-1);
  if (refused) return { kind: 'http', httpStatus: Number(refused[1]) };
  if (found.kind !== 'no_formats') return found;
  const kind = UNREADABLE.test(stderr) ? 'unreadable_formats' : SEPARATE.test(stderr) ? 'separate_periods' : found.kind;
  return { ...found, kind };
}

function firstReport(stderr: string): string | undefined {
  const start = stderr.search(ERROR);
  if (start < 0) return undefined;
  const rest = stderr.slice(start + 'ERROR: '.length, start + MAX_REPORT_LENGTH);
  const end = rest.search(ERROR);
  return end < 0 ? rest : rest.slice(0, end);
}

const lastLine = (text: string): string => text.slice(-MAX_REPORT_LENGTH).trimEnd().split('\n').at(-1) ?? '';

function parseReport(text: string): Report {
  const traceAt = text.search(TRACEBACK);
  const head = (traceAt < 0 ? text : text.slice(0, traceAt)).trim();
  const trace = traceAt < 0 ? '' : text.slice(traceAt);
  const frames = new Set(Array.from(trace.matchAll(FRAME), ([, name = '']) => name));
  const classes = [...new Set(Array.from(trace.matchAll(CLASS), ([, name = '']) => name))].filter(
    (name) => name !== 'Traceback',
  );
  const extractor = EXTRACTOR.exec(head)?.[1];
  const status = /HTTP ?Error (\d{3})/.exec(text)?.[1];
  const message = head.replace(BUG_REPORT, '').replace(CAUSE, '').replace(EXTRACTOR, '');
  return {
    text,
    message,
    extractor,
    isExtractorError: extractor !== undefined || CAUSE.test(head) || classes.some((name) => EXTRACTOR_ERRORS.has(name)),
    expected: !BUG_REPORT.test(head) && !IMAGES_ALONE.test(message),
    httpStatus: status === undefined ? undefined : Number(status),
    frames,
    classes,
  };
}

const EXTRACTOR_ERRORS = new Set(['ExtractorError', 'UnsupportedError', 'GeoRestrictedError', 'UserNotLive']);

/** yt-dlp's reporting helpers, which all raise the same class. The more specific come first: they call the others. */
const HELPERS: readonly (readonly [name: string, kind: WorkerFailureKind])[] = [
  ['report_drm', 'drm'],
  ['raise_login_required', 'login'],
  ['raise_geo_restricted', 'geo'],
  ['raise_no_formats', 'no_formats'],
];

const SITES: Readonly<Record<string, WorkerFailureKind>> = {
  DRM: 'site_drm',
  Piracy: 'site_piracy',
  Liability: 'site_liability',
};

/** In the order in which they are decided. */
const KINDS: readonly (readonly [WorkerFailureKind, (report: Report) => boolean])[] = [
  ['memory', has('MemoryError')],
  ['egress_refused', ({ text }) => TUNNEL_STATUS.exec(text)?.[1] === '403'],
  // `_has_drm` of the item, whose text is yt-dlp's own.
  ['drm', ({ frames, message }) => frames.has('raise_no_formats') && message === 'This video is DRM protected'],
  ...HELPERS.map(([name, kind]) => [kind, ({ frames }: Report) => frames.has(name)] as const),
  ['no_formats', ({ message }) => IMAGES_ALONE.test(message)],
  ['unsupported', ({ message, classes }) => classes.includes('UnsupportedError') || /^Unsupported URL: /.test(message)],
  ['geo', has('GeoRestrictedError')],
  // Tracebacks of an ExtractorError mostly lack its class: the message is the default one of UserNotLive.
  [
    'not_live',
    ({ message, classes }) => classes.includes('UserNotLive') || message === 'The channel is not currently live',
  ],
  ['bad_scheme', has('UnsupportedRequest', 'NoSupportingHandlers')],
  ['http', ({ httpStatus, classes, text }) => httpStatus !== undefined && isOf(classes, text, 'HTTPError')],
  // Tested before `proxy`, because a proxy that times out raises both.
  ['timeout', ({ classes, text }) => classes.some((name) => name.includes('Timeout')) || /\btimed out\b/.test(text)],
  ['proxy', ({ classes, text }) => isOf(classes, text, 'ProxyError') || TUNNEL_STATUS.test(text)],
  ['dns', ({ classes, text }) => classes.includes('gaierror') || /UnicodeError: .{0,200}idna|'idna' codec/.test(text)],
  ['network', ({ classes, text }) => NETWORK_CLASSES.some((name) => isOf(classes, text, name))],
];

const NETWORK_CLASSES = [
  ...['RequestError', 'TransportError', 'SSLError', 'CertificateVerifyError', 'IncompleteRead', 'OSError'],
  ...['ConnectionError', 'ConnectionResetError', 'ConnectionRefusedError', 'ConnectionAbortedError', 'BrokenPipeError'],
  ...['RemoteDisconnected', 'ProtocolError'],
];

function has(...names: readonly string[]): (report: Report) => boolean {
  return ({ classes }) => names.some((name) => classes.includes(name));
}

/** Whether a class is on a traceback, or is the cause that an ExtractorError names: `(caused by <HTTPError 404: Not Found>)`. */
const isOf = (classes: readonly string[], text: string, name: string): boolean =>
  classes.includes(name) || new RegExp(`\\(caused by <?${name}\\b`).test(text);

function kindOf(report: Report): WorkerFailureKind {
  const { extractor, isExtractorError, expected } = report;
  const site = extractor === undefined ? undefined : SITES[extractor];
  if (site) return site;
  const [kind] = KINDS.find(([, matches]) => matches(report)) ?? [];
  return kind ?? (isExtractorError && expected ? 'expected' : 'bug');
}
