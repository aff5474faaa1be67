/**
 * `npm run load-model -- --resolves 1e6 --terabytes 100 [--peak 3] [-c setting=value]`: which limit a day of that load meets first
 * in each profile, what raises it, what a simulated day does, and the bill.
 */
import { parseArgs } from 'node:util';
import { SettingError } from '../../core/config/index.ts';
import { type ProfileName, profileOf, profiles, readContext } from '../config/index.ts';
import { calculateBill, totalUsd } from './bill.ts';
import { fixedUsage } from './fixed-costs.ts';
import { type Demand, findDemands, settingsFor, toMonthly } from './load-model.ts';
import { type DailyLoad, type LoadDay, simulateLoad } from './simulate-load.ts';
import { synthesize } from './synthesize.ts';
import { trafficUsage } from './usage.ts';

const HOURS_PER_DAY = 24;
const MONTH_DAYS = 730 / HOURS_PER_DAY;

/** @throws SettingError for what is no positive number */
function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new SettingError(`${name} must be a positive number, not ${text}`);
  return value;
}

function report(name: ProfileName, context: Readonly<Record<string, string>>, load: DailyLoad): string {
  const settings = readContext(context);
  const profile = profileOf(settings);
  const template = synthesize(context);
  const day = simulateLoad(load, profile);
  const extraHours = Math.max(0, day.taskHours - profile.minTasks * HOURS_PER_DAY);
  const usd = totalUsd(
    calculateBill([...fixedUsage(template), ...trafficUsage(template, toMonthly(load, extraHours))]),
  );
  const demands = findDemands(load, { profile, usdPerDay: usd / MONTH_DAYS });
  const exceeded = demands.filter(({ needed, available }) => needed > available);
  const [first] = exceeded;
  const raised = Object.entries(settingsFor(demands, profile)).map(([setting, value]) => `-c ${setting}=${value}`);
  return [
    name,
    first ? `  the first limit: ${describeDemand(first)}` : '  no limit is exceeded',
    ...exceeded.slice(1).map((each) => `  then: ${describeDemand(each)}`),
    ...(raised.length > 0 ? [`  raise with: ${raised.join(' ')}`] : []),
    `  a simulated day: ${describeDay(day)}`,
    `  the bill of a month, if all of it were served: $${Math.round(usd).toLocaleString('en-US')}`,
  ].join('\n');
}

const describeDemand = ({ limit, unit, needed, available, raisedBy }: Demand): string =>
  `${limit}: ${format(needed)} of ${format(available)} ${unit} at the peak (raised by ${raisedBy})`;

function describeDay(day: LoadDay): string {
  const percent = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
  return [
    `${percent(day.throttled, day.arrived)} of links refused by the rate`,
    `${percent(day.withoutExecution, day.arrived)} by executions`,
    `${percent(day.coldStarts, day.resolved)} cold starts`,
    `at most ${day.mostExecutions} executions`,
    `at most ${day.mostTasks} tasks`,
    `${percent(day.bytesLate, day.bytesSent + day.bytesLate)} of bytes without a task`,
  ].join(', ');
}

const format = (value: number): string => value.toLocaleString('en-US', { maximumSignificantDigits: 3 });

try {
  const { values } = parseArgs({
    options: {
      resolves: { type: 'string', default: '33000' },
      terabytes: { type: 'string', default: '1.3' },
      peak: { type: 'string', default: '3' },
      playlists: { type: 'string', default: '0.05' },
      entries: { type: 'string', default: '25' },
      context: { type: 'string', short: 'c', multiple: true, default: [] },
    },
  });
  const load: DailyLoad = {
    resolves: positive('resolves', values.resolves),
    bytes: positive('terabytes', values.terabytes) * 1e12,
    peakFactor: Math.max(1, positive('peak', values.peak)),
    playlistShare: Math.min(1, positive('playlists', values.playlists)),
    entriesPerPlaylist: Math.ceil(positive('entries', values.entries)),
  };
  const context = Object.fromEntries(values.context.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
  const names = (Object.keys(profiles) as ProfileName[]).filter((name) => !context.profile || context.profile === name);
  const reports = names.map((name) => report(name, { ...context, profile: name }, load));
  process.stdout.write(
    [
      `${load.resolves.toLocaleString('en-US')} links and ${format(load.bytes / 1e12)} TB a day, at the peak ${format(load.peakFactor)} times the average, ${format(100 * load.playlistShare)} % playlists of ${load.entriesPerPlaylist}.`,
      'By arithmetic and a simulation with assumed durations, not measured in an account; without what a cache at the edge saves.',
      '',
      ...reports.map((text) => `${text}\n`),
    ].join('\n'),
  );
} catch (error) {
  const isArgument = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  if (!(isArgument || error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
