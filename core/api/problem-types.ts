/** A class of problems, as its page describes it. */
export interface ProblemType {
  /** Status of the response; a stream answers 502 instead of 415. */
  readonly status: number;
  readonly heading: string;
  readonly meaning: string;
  /** What the user can do. */
  readonly help: string;
  /** What the operator of the instance can do. */
  readonly operators?: string;
}

const COOKIES = '`COOKIES_FILE` can supply the cookies of an account that has access.';
const TRY_AGAIN = 'Try again in a moment.';

/** Every class of problems, by its name. The `type` of responses, their pages and OpenAPI follow from it. */
export const PROBLEM_TYPES = {
  'bad-url': {
    status: 400,
    heading: 'Not a link',
    meaning: 'The url parameter is missing, or is not an absolute http or https URL of at most 4,096 characters.',
    help: 'Copy the full address from the browser, starting with https://, and percent-encode it once.',
  },
  'bad-parameter': {
    status: 400,
    heading: 'Invalid parameter',
    meaning: 'A parameter of the request, or the request itself, is malformed. `detail` says which where it is known.',
    help: 'Compare the request with the description of the API.',
  },
  unauthorized: {
    status: 401,
    heading: 'Access key required',
    meaning: 'The instance is private, and the request has no valid access key.',
    help: 'Enter an access key of this instance.',
    operators:
      '`ACCESS_KEYS` and `ACCESS_KEYS_FILE` list the keys on one machine, the secret `accessKeysSecret` in AWS.',
  },
  'link-refused': {
    status: 403,
    heading: 'Link not valid',
    meaning: 'The signed link has expired or was changed, or its access key was removed. `detail` says which.',
    help: 'Resolve the link again.',
  },
  'cross-site': {
    status: 403,
    heading: 'Requested by another site',
    meaning: 'A page of another site requested a resolve or a stream, and its origin is not allowed to.',
    help: 'Open the link itself.',
    operators: '`CORS_ALLOWED_ORIGINS` lists the origins that may.',
  },
  'unknown-host': {
    status: 404,
    heading: 'Unknown site',
    meaning: 'The host name of the link has no address on the public internet.',
    help: 'Check the spelling of the address.',
    operators: '`EGRESS_ALLOW` admits hosts of your own network.',
  },
  'private-address': {
    status: 404,
    heading: 'Private address',
    meaning: 'The link names an address that is not on the public internet.',
    help: 'Use a link that everyone can open.',
    operators: '`EGRESS_ALLOW` admits hosts of your own network.',
  },
  'not-found': {
    status: 404,
    heading: 'Nothing found',
    meaning:
      'There is nothing at this address: no such path, page or key, or nothing of the quality that was asked for.',
    help: 'Check the link, or resolve it again.',
  },
  'no-media': {
    status: 404,
    heading: 'No video or audio',
    meaning: 'The link exists, but has no video or audio that can be played.',
    help: 'Use the link of the video or song itself.',
  },
  'not-started': {
    status: 404,
    heading: 'Not started yet',
    meaning: 'It is a premiere or a live stream that has not begun, or the channel is not live at the moment.',
    help: 'Try again once it has started. `Retry-After` says when, where the site does.',
  },
  ended: {
    status: 404,
    heading: 'Ended',
    meaning: 'The live stream has ended, and the site has no recording of it.',
    help: 'Look for a recording on the page of the channel.',
  },
  gone: {
    status: 404,
    heading: 'No longer there',
    meaning: 'The site has removed it, or its address has expired.',
    help: 'Resolve the link of the page again. If that fails too, it is gone.',
  },
  'method-not-allowed': {
    status: 405,
    heading: 'Method not allowed',
    meaning: 'The address exists, but does not take this method.',
    help: 'Use a method that `Allow` lists.',
  },
  login: {
    status: 415,
    heading: 'Sign-in required',
    meaning: 'The site shows it only to people who are signed in.',
    help: 'Use a link that everyone can open.',
    operators: COOKIES,
  },
  age: {
    status: 415,
    heading: 'Age check',
    meaning: 'The site asks for proof of age.',
    help: 'Use a link that everyone can open.',
    operators: '`COOKIES_FILE` can supply the cookies of an adult account.',
  },
  private: {
    status: 415,
    heading: 'Private',
    meaning: 'Its owner has limited who may see it.',
    help: 'Ask the owner to share it.',
    operators: COOKIES,
  },
  members: {
    status: 415,
    heading: 'Members only',
    meaning: 'The site shows it only to members, subscribers or supporters.',
    help: 'Watch it on the site.',
    operators: COOKIES,
  },
  payment: {
    status: 415,
    heading: 'Payment required',
    meaning: 'It must be bought or rented.',
    help: 'Watch it on the site.',
    operators: COOKIES,
  },
  drm: {
    status: 415,
    heading: 'Protected content',
    meaning: 'It is encrypted by DRM.',
    help: 'Watch it on the site. No instance can decrypt it.',
  },
  region: {
    status: 415,
    heading: 'Not available in this region',
    meaning: 'The site does not serve it in the region of this server.',
    help: 'Use an instance in another region.',
    operators: 'Send the requests of the site through a proxy in another region: `OUTGOING_PROXIES`, `PROXY_RULES`.',
  },
  'bot-check': {
    status: 415,
    heading: 'Blocked by a bot check',
    meaning:
      'The site takes this server for a bot, since its address belongs to a data center or has sent many requests.',
    help: 'Try again later, or use another instance.',
    operators:
      'Further outgoing addresses (`OUTGOING_PROXIES`, `SOURCE_ADDRESSES`), cookies of an account (`COOKIES_FILE`) or a provider of tokens make the check rarer.',
  },
  refused: {
    status: 415,
    heading: 'Blocked by the site',
    meaning: 'The site refused to send it without saying why. It may be private, paid, or blocked for this server.',
    help: 'Use a link that everyone can open.',
    operators: 'Cookies (`COOKIES_FILE`), an outgoing proxy (`OUTGOING_PROXIES`) or `IMPERSONATE` may help.',
  },
  unsupported: {
    status: 415,
    heading: 'Link not supported',
    meaning: 'This kind of link, or the media behind it, is not handled. `detail` says why.',
    help: 'Use the link of the video or song itself.',
  },
  'unsupported-rendition': {
    status: 415,
    heading: 'Format not available',
    meaning: 'The rendition exists, but cannot be sent in the requested form. `detail` says why.',
    help: 'Choose another format.',
  },
  'too-large': {
    status: 415,
    heading: 'Too large',
    meaning: 'The response of the site is larger or more complex than the instance accepts.',
    help: 'Use the link of a single item, or of a shorter list.',
  },
  'range-not-satisfiable': {
    status: 416,
    heading: 'Range outside of the file',
    meaning: 'The requested range begins after the end of the file.',
    help: 'Request a range within the size that `Content-Range` names.',
  },
  'unknown-instance': {
    status: 421,
    heading: 'Not a name of this instance',
    meaning: 'The host name of the request is not one of this instance.',
    help: 'Use the address that the operator has published.',
    operators: 'Further names are listed in `ALLOWED_HOSTS`.',
  },
  'too-many': {
    status: 429,
    heading: 'Too many requests',
    meaning: 'This client has reached the limit of one client.',
    help: 'Try again after the time that `Retry-After` names.',
  },
  'headers-too-large': {
    status: 431,
    heading: 'Request too large',
    meaning: 'The headers of the request are too large.',
    help: 'Send a shorter link and fewer headers.',
  },
  disconnected: {
    status: 499,
    heading: 'Client disconnected',
    meaning: 'The client closed the connection before the response.',
    help: TRY_AGAIN,
  },
  internal: {
    status: 500,
    heading: 'Internal error',
    meaning: 'The service failed for an unexpected reason.',
    help: TRY_AGAIN,
    operators: 'The log contains the error.',
  },
  'rate-limited': {
    status: 502,
    heading: 'The site asks to slow down',
    meaning: 'The site limits how much this server may request, and has reached that limit.',
    help: 'Try again after the time that `Retry-After` names.',
    operators:
      'Further outgoing addresses (`OUTGOING_PROXIES`, `SOURCE_ADDRESSES`) or cookies (`COOKIES_FILE`) raise the limit.',
  },
  'site-error': {
    status: 502,
    heading: 'The site did not respond properly',
    meaning: 'The site failed, refused the connection, or sent what cannot be read.',
    help: TRY_AGAIN,
    operators: 'The log contains the reason. If every link of the site fails, look for an update of yt-dlp.',
  },
  'site-timeout': {
    status: 502,
    heading: 'The site took too long',
    meaning: 'The site did not answer within the time that a request may take.',
    help: 'Try again after the time that `Retry-After` names, or in a moment.',
  },
  'site-changed': {
    status: 502,
    heading: 'The site has changed',
    meaning: 'The site sends its pages or media in a form that this version of yt-dlp cannot read.',
    help: 'Try again in a few days: an update usually follows.',
    operators:
      'Update yt-dlp, and leave `TOOLS_CHANNEL` at nightly, which has fixes first. Some sites need a provider of tokens.',
  },
  'service-failed': {
    status: 502,
    heading: 'The service failed',
    meaning: 'A part of the service, such as its table or yt-dlp, did not respond.',
    help: TRY_AGAIN,
    operators: 'The log contains the reason.',
  },
  maintenance: {
    status: 503,
    heading: 'Getting ready',
    meaning: 'The instance is installing or updating its tools. `title` is the activity.',
    help: 'Try again in a few seconds.',
  },
  starting: {
    status: 503,
    heading: 'Starting',
    meaning: 'The stream host starts on demand.',
    help: 'Try again after the time that `Retry-After` names, about half a minute.',
  },
  delayed: {
    status: 503,
    heading: 'Not served yet',
    meaning:
      'The site serves it only after a wait, such as for an advertisement, of which more than 20 seconds are left.',
    help: 'Try again after the time that `Retry-After` names.',
  },
  busy: {
    status: 503,
    heading: 'No capacity',
    meaning: 'The instance has reached its limit of streams or resolves, or has no disk space left.',
    help: 'Try again after the time that `Retry-After` names.',
    operators: '`MAX_STREAMS` and `MAX_FFMPEG` are the limits of streams.',
  },
} as const satisfies Readonly<Record<string, ProblemType>>;

export type ProblemName = keyof typeof PROBLEM_TYPES;

const PREFIX = '/problems/';

/** The `type` of a response: a relative reference (RFC 9457 §3.1.1) to the page of the problem. */
export const typeReference = (name: ProblemName): string => `${PREFIX}${name}`;

/** The name in the `type` of a response. */
export const problemNameOf = ({ type }: { readonly type: string }): string => type.slice(PREFIX.length);

/** The `type` of every problem. */
export const TYPE_REFERENCES: readonly string[] = Object.keys(PROBLEM_TYPES).map((name) => `${PREFIX}${name}`);

/** A problem in words, for answers that have no other form: what it is, what is known of it, and else what to do. */
export function sayProblem({ type, detail }: { readonly type: string; readonly detail?: string }): string {
  const { heading, meaning, help }: ProblemType = PROBLEM_TYPES[problemNameOf({ type }) as ProblemName];
  return `${heading}. ${detail ?? `${meaning} ${help}`}`;
}
