import type { ProfileName } from '../config/index.ts';

/** Monthly traffic of an instance. */
export interface Traffic {
  readonly name: string;
  /** Resolved links. */
  readonly resolves: number;
  /** Streams, and their total size in gigabytes. */
  readonly streams: number;
  readonly gigabytes: number;
  /** Task hours in addition to the permanent tasks. */
  readonly extraTaskHours: number;
  /** Times a day that an on-demand task is started, each by a resolve or a stream after it has ended. */
  readonly visitsPerDay: number;
  /** Description for the report. */
  readonly meaning: string;
}

/** No traffic. */
export const IDLE: Traffic = {
  name: 'idle',
  resolves: 0,
  streams: 0,
  gigabytes: 0,
  extraTaskHours: 0,
  visitsPerDay: 0,
  meaning: 'no traffic',
};

/** Typical traffic of each profile. */
export const TRAFFIC: Readonly<Record<ProfileName, Traffic>> = {
  hobby: {
    ...IDLE,
    name: 'a household',
    resolves: 600,
    streams: 300,
    gigabytes: 60,
    visitsPerDay: 5,
    meaning: '20 links and 2 GB a day in five visits',
  },
  team: {
    ...IDLE,
    name: 'a team',
    resolves: 20_000,
    streams: 15_000,
    gigabytes: 900,
    meaning: '650 links and 30 GB a day on the one task',
  },
  public: {
    ...IDLE,
    name: 'a public instance',
    resolves: 1_000_000,
    streams: 700_000,
    gigabytes: 40_000,
    extraTaskHours: 2_200,
    meaning: '33,000 links and 1.3 TB a day; five tasks on average',
  },
};

/** Visits a day for which the report of an on-demand host states the bill. */
export const VISITS_PER_DAY = [1, 5, 10, 20, 50] as const;
