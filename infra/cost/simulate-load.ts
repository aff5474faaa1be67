import { type Profile, TASK_TARGETS } from '../config/index.ts';

/** What viewers ask for in a day. */
export interface DailyLoad {
  /** Links to resolve. */
  readonly resolves: number;
  /** Bytes of streams. */
  readonly bytes: number;
  /** The busiest moment by the average of the day. 1: the same all day. */
  readonly peakFactor: number;
  /** Share of the links that are playlists, and entries of one. */
  readonly playlistShare: number;
  readonly entriesPerPlaylist: number;
}

/** How long things take, in seconds. */
export const TIMES = {
  /** A resolve in an environment that is initialized, and what an initialization adds. */
  resolve: 2.5,
  coldStart: 3,
  /** A playlist keeps what it has by then. */
  deadline: 25,
  /** After which Lambda ends an unused environment. */
  environmentIdle: 600,
  /** From the need of a task until it serves: the metric, its alarm, and the start. */
  taskStart: 240,
  taskIdle: 900,
} as const;

/** What became of a day. */
export interface LoadDay {
  readonly arrived: number;
  readonly resolved: number;
  /** Links that the throttle of the API refused, and those for which no execution was free. */
  readonly throttled: number;
  readonly withoutExecution: number;
  readonly coldStarts: number;
  /** Executions of the resolver at once: the most, and on average. */
  readonly mostExecutions: number;
  readonly meanExecutions: number;
  readonly mostTasks: number;
  readonly taskHours: number;
  readonly bytesSent: number;
  /** Bytes that no task had room for. */
  readonly bytesLate: number;
}

const DAY = 86_400;
/** Longer than any execution. */
const WHEEL_SECONDS = 60;

/**
 * A day, second by second: arrivals at random that follow the hours of the day, the token bucket of the API, executions with cold
 * starts, playlists that take an execution for each entry at once, and tasks that scale late. The same for the same seed.
 */
export function simulateLoad(
  load: DailyLoad,
  profile: Pick<
    Profile,
    'resolveRate' | 'resolveBurst' | 'resolverLimit' | 'entriesAtOnce' | 'taskCpu' | 'minTasks' | 'maxTasks'
  >,
  seed = 1,
): LoadDay {
  const random = mulberry32(seed);
  const { resolveRate, resolveBurst, resolverLimit, entriesAtOnce, minTasks, maxTasks } = profile;
  const bytesPerTask = (profile.taskCpu / 1024 / 60) * TASK_TARGETS.bytesPerMinutePerCore;
  // Executions that end in each of the next seconds.
  const ending = new Float64Array(WHEEL_SECONDS);
  const counts = { arrived: 0, resolved: 0, throttled: 0, withoutExecution: 0, coldStarts: 0 };
  let [tokens, running, warm, mostExecutions, executionSeconds] = [resolveBurst, 0, 0, 0, 0];
  let [tasks, mostTasks, taskSeconds, bytesSent, bytesLate, neededSince, idleSince] = [
    minTasks,
    minTasks,
    0,
    0,
    0,
    -1,
    -1,
  ];

  const start = (executions: number, seconds: number, second: number): void => {
    // Of environments that end little by little, whole ones are missing.
    const cold = Math.max(0, Math.round(running + executions - warm));
    counts.coldStarts += cold;
    warm += cold;
    running += executions;
    const end =
      (second + Math.max(1, Math.floor(seconds + (cold > 0 ? TIMES.coldStart : 0) + random()))) % WHEEL_SECONDS;
    ending[end] = (ending[end] ?? 0) + executions;
  };

  for (let second = 0; second < DAY; second++) {
    running -= ending[second % WHEEL_SECONDS] ?? 0;
    ending[second % WHEEL_SECONDS] = 0;
    // Environments that nothing uses end one by one.
    warm = Math.max(running, warm - (warm - running) / TIMES.environmentIdle);
    tokens = Math.min(resolveBurst, tokens + resolveRate);
    const share = shareOf(second, load.peakFactor);
    for (let left = poisson((load.resolves / DAY) * share, random); left > 0; left--) {
      counts.arrived++;
      if (tokens < 1) {
        counts.throttled++;
        continue;
      }
      tokens--;
      const isPlaylist = random() < load.playlistShare;
      const executions = isPlaylist ? 1 + Math.min(entriesAtOnce, load.entriesPerPlaylist) : 1;
      if (running + executions > resolverLimit) {
        counts.withoutExecution++;
        continue;
      }
      const rounds = isPlaylist ? Math.ceil(load.entriesPerPlaylist / entriesAtOnce) : 1;
      start(executions, Math.min(TIMES.deadline, rounds * TIMES.resolve), second);
      counts.resolved++;
    }
    mostExecutions = Math.max(mostExecutions, running);
    executionSeconds += running;

    const wanted = (load.bytes / DAY) * share;
    const room = Math.max(tasks, maxTasks > 0 && minTasks === 0 ? 1 : 0) * bytesPerTask;
    bytesSent += Math.min(wanted, room);
    bytesLate += Math.max(0, wanted - room);
    const needed = Math.min(maxTasks, Math.max(minTasks, Math.ceil(wanted / bytesPerTask)));
    neededSince = needed > tasks ? (neededSince < 0 ? second : neededSince) : -1;
    idleSince = needed < tasks ? (idleSince < 0 ? second : idleSince) : -1;
    if (neededSince >= 0 && second - neededSince >= TIMES.taskStart) tasks = needed;
    if (idleSince >= 0 && second - idleSince >= TIMES.taskIdle) tasks--;
    mostTasks = Math.max(mostTasks, tasks);
    taskSeconds += tasks;
  }
  const meanExecutions = executionSeconds / DAY;
  return { ...counts, mostExecutions, meanExecutions, mostTasks, taskHours: taskSeconds / 3_600, bytesSent, bytesLate };
}

/** The rate at a second by the average of the day: a cosine around noon, never below 0, whose mean over the day is 1. */
export function shareOf(second: number, peakFactor: number): number {
  if (peakFactor <= 1) return 1;
  // A power of the raised cosine: its mean falls with the exponent, and its peak by the mean is the factor.
  const exponent = exponentFor(peakFactor);
  return peakFactor * ((1 - Math.cos((2 * Math.PI * second) / DAY)) / 2) ** exponent;
}

const exponents = new Map<number, number>();

/** The exponent with which the mean of the curve is 1 / peakFactor. */
function exponentFor(peakFactor: number): number {
  const known = exponents.get(peakFactor);
  if (known !== undefined) return known;
  const mean = (exponent: number) => {
    let sum = 0;
    for (let minute = 0; minute < 1440; minute++)
      sum += ((1 - Math.cos((2 * Math.PI * minute) / 1440)) / 2) ** exponent;
    return sum / 1440;
  };
  let [low, high] = [0, 1_000];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (mean(middle) > 1 / peakFactor) low = middle;
    else high = middle;
  }
  exponents.set(peakFactor, low);
  return low;
}

/** A number of arrivals, by Knuth's product of random numbers; rates here are tens a second at most a slice. */
function poisson(rate: number, random: () => number): number {
  let count = 0;
  for (let left = rate; left > 0; left -= 30) {
    const limit = Math.exp(-Math.min(30, left));
    for (let product = random(); product > limit; product *= random()) count++;
  }
  return count;
}

/** A generator of 32 bits of state, by its usual constants. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
