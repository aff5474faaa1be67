import type { DeploymentSettings, Profile } from '../config/index.ts';
import { type DayCost, type Load, simulateDay } from './simulate-day.ts';
import { ATTACK_BYTES_PER_SECOND, spendingPlan } from './spending-plan.ts';
import { unitPrices } from './unit-prices.ts';

/** Requests of streams that take the designed speed together, of ten megabytes each. */
const STREAM_REQUESTS = ATTACK_BYTES_PER_SECOND / 10e6;
const NOTHING: Load = { bytes: 0, requests: 0, links: 0, secondsPerLink: 1 };
const BYTES: Load = { ...NOTHING, bytes: ATTACK_BYTES_PER_SECOND, requests: STREAM_REQUESTS };
/** Ten thousand a minute, each until the deadline of a resolve. */
const STALLED: Load = { ...NOTHING, links: 10_000 / 60, secondsPerLink: 25 };
/** Lists whose entries resolve one after the other, as fast as executions take them. */
const PLAYLISTS: Load = { ...NOTHING, links: 1_000, secondsPerLink: 2.5 };
const EVERYTHING: Load = { ...BYTES, links: PLAYLISTS.links, secondsPerLink: PLAYLISTS.secondsPerLink };

/** What strangers may do for a whole day, by the spending before each second. */
export const ATTACKS: Readonly<Record<string, (usd: number, cap: number) => Load>> = {
  'streams at 10 Gbit/s': () => BYTES,
  '10,000 stalled links a minute': () => STALLED,
  'playlists without end': () => PLAYLISTS,
  'all at once': () => EVERYTHING,
  // Little, until the edge would close soon: then as much as there is before a metric shows it.
  'a burst just below the cap': (usd, cap) =>
    usd < 0.85 * cap ? { ...NOTHING, bytes: (0.9 * cap) / 50_000 / 0.085e-9, requests: 1 } : EVERYTHING,
};

/** The day of each attack. */
export function attackedDays(settings: DeploymentSettings, profile: Profile): Readonly<Record<string, DayCost>> {
  const plan = spendingPlan(settings, profile);
  const prices = unitPrices(settings, profile);
  return Object.fromEntries(
    Object.entries(ATTACKS).map(([name, attack]) => [
      name,
      simulateDay({ prices, plan, profile, loadAt: (_, usd) => attack(usd, profile.dailyCap) }),
    ]),
  );
}

/** The most that a day costs under any of the attacks, in USD, and the same of the requests that the closed edge refuses. */
export function worstDay(
  settings: DeploymentSettings,
  profile: Profile,
): { readonly usd: number; readonly refusedUsd: number } {
  const days = Object.values(attackedDays(settings, profile));
  return {
    usd: Math.max(...days.map(({ usd }) => usd)),
    refusedUsd: Math.max(...days.map(({ refusedUsd }) => refusedUsd)),
  };
}
