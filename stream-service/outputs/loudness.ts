import { abortable, createCache, createSingleFlight } from '../../core/concurrency/index.ts';
import { UnsupportedRendition } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Loudness } from '../../core/media/loudness/index.ts';
import type { KeyedRendition, Resource, State, Track } from '../../core/state/index.ts';
import { FfmpegFailed, type FfmpegInputServer, type RequireFfmpeg, runFfmpeg } from '../ffmpeg/index.ts';
import type { Admission, StreamObserver } from '../sessions/index.ts';
import { type Opening, toReadError } from './representation.ts';

/** The audio whose loudness is part of tags. */
export interface MeasuredAudio {
  readonly track: Track;
  /** As the stereo that it is converted to. @default with its own channels */
  readonly isStereo?: boolean;
}

/** The loudness of audio, measured by the first request of all hosts. */
export interface LoudnessMeter {
  /**
   * @returns `null` without audio to measure; undefined for HEAD where it has to be measured first
   * @throws UnsupportedRendition for audio that is too long; StateUnavailable, InMaintenance, CapacityExceeded, and what reading
   * throws
   */
  find(
    resource: Resource,
    audio: MeasuredAudio,
    opening: Pick<Opening, 'session' | 'isForHead' | 'openSource'>,
  ): Promise<Loudness | null | undefined>;
}

export interface LoudnessDependencies {
  readonly state: Pick<State, 'getAttachment' | 'putAttachment'>;
  readonly inputServer: FfmpegInputServer;
  readonly requireFfmpeg: RequireFfmpeg;
  readonly admission: Pick<Admission, 'acquireFfmpeg'>;
  readonly observer: Pick<StreamObserver, 'onFfmpegFailure'>;
  readonly log: Log;
  /** Until it has to be measured. @default 600000 */
  readonly timeoutMs?: number;
  /** How long a client waits until it is measured for the next one if this one leaves. @default 45000 */
  readonly patienceMs?: number;
}

const TIMEOUT_MS = 10 * 60_000;
/** Proxies in between, such as CloudFront, end a request after a minute without a byte: the client asks again. */
const PATIENCE_MS = 45_000;

/** An hour takes some 8 s of a processor. */
const MAX_SECONDS = 4 * 3600;
const TOO_LONG = `The loudness of more than ${MAX_SECONDS / 3600} hours is not measured.`;
/** Some bytes each. What is in the table may expire, and be measured again. */
const CACHE_OPTIONS = { maxEntries: 1000, maxAgeMs: 60 * 60 * 1000 };
/** Characters of FFmpeg's output that contain the last frame of 64 channels. */
const TAIL_LENGTH = 8192;

/** @throws UnsupportedRendition for audio that is too long */
export function planLoudness({ resource, tracks }: KeyedRendition, isStereo = false): MeasuredAudio | undefined {
  // Of several, the one that plays by itself.
  const track = tracks.find(({ audio }) => audio);
  if (track && (track.durationSeconds ?? resource.durationSeconds ?? 0) > MAX_SECONDS)
    throw new UnsupportedRendition(TOO_LONG);
  return track && { track, isStereo };
}

export function createLoudnessMeter(dependencies: LoudnessDependencies): LoudnessMeter {
  const { state, requireFfmpeg, admission, timeoutMs = TIMEOUT_MS, patienceMs = PATIENCE_MS } = dependencies;
  const cache = createCache<string, Buffer>(CACHE_OPTIONS);
  const flights = createSingleFlight<Buffer>();

  return {
    async find(resource, audio, { session: { client, signal }, isForHead, openSource }) {
      const { track, isStereo } = audio;
      const name = `${isStereo ? 'stereo-' : ''}loudness-${track.formatId}` as const;
      const key = `${resource.id} ${name}`;
      const load = async () => cache.get(key) ?? (await state.getAttachment(resource.id, name));
      const measureAndStore = async (shared: AbortSignal) => {
        const { path } = await requireFfmpeg();
        const until = AbortSignal.any([shared, AbortSignal.timeout(timeoutMs)]);
        const release = admission.acquireFfmpeg(client);
        try {
          const source = await openSource(resource, track, { client, signal: until });
          const found = await measure(audio, { source, path, signal: until }, dependencies).finally(source.close);
          const bytes = Buffer.from(found ? JSON.stringify(found) : '');
          return await state.putAttachment(resource.id, name, bytes);
        } catch (error) {
          shared.throwIfAborted();
          throw toReadError(error);
        } finally {
          release();
        }
      };
      const loadOrMeasure = async (shared: AbortSignal) => (await load()) ?? measureAndStore(shared);
      const flown = () => abortable(flights(key, loadOrMeasure, abortedBefore(signal, patienceMs)), signal);
      const bytes = await (isForHead ? load() : flown());
      if (!bytes) return undefined;
      cache.set(key, bytes);
      return bytes.length > 0 ? (JSON.parse(bytes.toString()) as Loudness) : null;
    },
  };
}

/** Aborted by a signal that is aborted within a time from now. */
function abortedBefore(signal: AbortSignal, ms: number): AbortSignal {
  if (signal.aborted) return signal;
  const startedAt = performance.now();
  const controller = new AbortController();
  const abort = () => {
    if (performance.now() - startedAt < ms) controller.abort(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  return controller.signal;
}

interface Measurement {
  readonly source: Awaited<ReturnType<Opening['openSource']>>;
  /** Of FFmpeg. */
  readonly path: string;
  readonly signal: AbortSignal;
}

/** @returns undefined without audio */
async function measure(
  { track, isStereo }: MeasuredAudio,
  { source, path, signal }: Measurement,
  { inputServer, observer, log }: Pick<LoudnessDependencies, 'inputServer' | 'observer' | 'log'>,
): Promise<Loudness | undefined> {
  const input = inputServer.serve(source, { selection: 'audio' });
  const stereo = isStereo ? ['aformat=channel_layouts=stereo'] : [];
  // The values up to the end of each 100 ms, as text.
  const filters = [...stereo, 'ebur128=metadata=1:peak=sample', 'ametadata=mode=print:file=-'];
  let isWithoutAudio = false;
  let tail = '';
  try {
    const output = runFfmpeg({
      path,
      args: [
        // Where the format changes midway, the filter would begin again: FFmpeg fails instead.
        ...[...input.args, '-reinit_filter', '0', '-i', input.url],
        ...['-map', '0:a:0', '-af', filters.join(','), '-f', 'null'],
      ],
      inputs: [input],
      signal: AbortSignal.any([signal, input.failed]),
      onFailure(stderr) {
        isWithoutAudio = /matches no streams/.test(stderr);
        if (isWithoutAudio) return;
        observer.onFfmpegFailure();
        log.warn('FFmpeg failed to measure loudness', { format: track.formatId, stderr });
      },
    });
    for await (const text of output.setEncoding('utf8')) {
      tail = (tail + text).slice(-TAIL_LENGTH);
      if (lastValue(tail, 'pts_time:') > MAX_SECONDS) throw new UnsupportedRendition(TOO_LONG);
    }
  } catch (error) {
    if (!(error instanceof FfmpegFailed && isWithoutAudio)) throw error;
  } finally {
    input.close();
  }
  const [integratedLufs, peak] = [lastValue(tail, 'lavfi.r128.I='), lastValue(tail, 'lavfi.r128.sample_peak=')];
  return Number.isNaN(integratedLufs + peak) ? undefined : { integratedLufs, peak };
}

/** The last number behind a name. */
function lastValue(text: string, name: string): number {
  const at = text.lastIndexOf(name);
  return at === -1 ? Number.NaN : Number.parseFloat(text.slice(at + name.length));
}
