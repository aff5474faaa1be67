import { readFile } from 'node:fs/promises';
import { abortable, createCache, type Deadline, deadlineSignal } from '@reelay/concurrency';
import type { OperatorOptions } from '@reelay/yt-dlp-worker';
import type { Settings } from '../config/index.ts';
import { CapacityExceeded, NotDeliverable, NotFound } from '../errors/index.ts';
import type { Log } from '../log/index.ts';

/** What is asked of yt-dlp. */
interface LinkRequest extends Deadline {
  readonly url: string;
  /** The outgoing identity to send requests through. */
  readonly identity: string;
}

export interface ClientFallbackOptions
  extends Pick<OperatorOptions, 'cookiesFile' | 'cookiesDir'>,
    Partial<Pick<Settings, 'youtubeFallbackClient' | 'ytDlpExtractorArgs'>> {
  readonly log: Log;
}

/** Name of the extractor of single videos. */
const YOUTUBE = 'youtube';
const SETS_CLIENT = /^youtube:(?:.*;)?player[-_]client=/i;
const COOKIE_OF_YOUTUBE = /^(?:#HttpOnly_)?(?:[\w.-]*\.)?youtube\.com\t/m;
const FAILED_FOR_MS = 3_600_000;
const MAX_IDENTITIES = 256;

/**
 * Extracts a video for which YouTube wants a sign-in once more, as another of its clients and with a new session. An outgoing identity
 * for which that fails too is not tried again within the hour: each attempt counts against it. Links that fail while another one is
 * tried wait for its outcome. Clients and cookies of the operator stay as they are.
 */
export function createClientFallback<Request extends LinkRequest, Extraction>(
  extract: (request: Request & { readonly playerClient?: string }) => Promise<Extraction>,
  { youtubeFallbackClient, ytDlpExtractorArgs = [], cookiesFile, cookiesDir = [], log }: ClientFallbackOptions,
): (request: Request) => Promise<Extraction> {
  if (youtubeFallbackClient === undefined || youtubeFallbackClient === 'off') return extract;
  if (ytDlpExtractorArgs.some((item) => SETS_CLIENT.test(item))) return extract;
  const cookieFiles = cookiesFile === undefined ? cookiesDir : [cookiesFile, ...cookiesDir];
  /** Whether YouTube served the last attempt, by identity. */
  const served = createCache<string, Promise<boolean>>({ maxEntries: MAX_IDENTITIES, maxAgeMs: FAILED_FOR_MS });

  const hasCookies = async (): Promise<boolean> => {
    const texts = cookieFiles.map((file) => readFile(file, 'utf8').catch(() => ''));
    return (await Promise.all(texts)).some((text) => COOKIE_OF_YOUTUBE.test(text));
  };

  return (request) =>
    extract(request).catch(async (error: unknown) => {
      const { identity, signal } = request;
      if (!wantsSignIn(error) || (await hasCookies())) throw error;
      const last = served.get(identity);
      if (last && !(await abortable(last, deadlineSignal(request)).catch(() => false))) throw error;
      const attempt = extract({ ...request, playerClient: youtubeFallbackClient });
      const outcome = attempt.then(
        () => true,
        // Neither says anything of the identity.
        (failure) => isOfLink(failure) || failure instanceof CapacityExceeded || signal.aborted,
      );
      served.set(identity, outcome);
      log.info('YouTube wants a sign-in', { url: request.url, client: youtubeFallbackClient, served: await outcome });
      return attempt.catch((failure) => {
        throw isOfLink(failure) ? failure : error;
      });
    });
}

const wantsSignIn = (error: unknown): boolean =>
  error instanceof NotDeliverable &&
  error.reason === 'bot-check' &&
  (error.cause as { readonly extractor?: string } | undefined)?.extractor === YOUTUBE;

/** Whether YouTube says of the video itself that it cannot be had, rather than of who asks. */
const isOfLink = (error: unknown): boolean =>
  error instanceof NotFound || (error instanceof NotDeliverable && !['bot-check', 'refused'].includes(error.reason));
