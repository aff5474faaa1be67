/**
 * `npm run cost`: what each profile costs a month, idle and with traffic that fits it. Flags of CDK's context: `-c
 * architecture=arm64`.
 */
import { parseArgs } from 'node:util';
import { SettingError } from '../../core/config/index.ts';
import { type ProfileName, profileOf, profiles, readContext } from '../config/index.ts';
import { calculateBill, totalUsd } from './bill.ts';
import { fixedUsage } from './fixed-costs.ts';
import { PRICES_AS_OF } from './prices.ts';
import { formatPlan, formatReport, formatVisits, formatWorstDay } from './report.ts';
import { synthesize } from './synthesize.ts';
import { IDLE, TRAFFIC, type Traffic, VISITS_PER_DAY } from './traffic.ts';
import { trafficUsage } from './usage.ts';
import { worstDay } from './worst-day.ts';

/** A row of the report: a profile, or a variant of it. */
interface Variant {
  readonly title: string;
  readonly profile: ProfileName;
  readonly context: Readonly<Record<string, string>>;
}

/** Every profile, and those that a setting changes most. Settings for one profile alone would be invalid for the others. */
function variantsOf({ streamHost: _, ...context }: Readonly<Record<string, string>>): Variant[] {
  return (Object.keys(profiles) as ProfileName[]).flatMap((profile) => {
    const variant = { title: profile, profile, context: { ...context, profile } };
    if (profile !== 'hobby' || context.architecture === 'x86_64') return [variant];
    const onLambda = { ...variant.context, streamHost: 'lambda' };
    return [variant, { title: 'hobby with streamHost=lambda', profile, context: onLambda }];
  });
}

try {
  const { values } = parseArgs({ options: { context: { type: 'string', short: 'c', multiple: true, default: [] } } });
  const context = Object.fromEntries(values.context.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
  const reports = variantsOf(context).flatMap((variant) => {
    const template = synthesize(variant.context);
    const { title, profile } = variant;
    const settings = readContext(variant.context);
    const billOf = (traffic: Traffic) => calculateBill([...fixedUsage(template), ...trafficUsage(template, traffic)]);
    const busy = TRAFFIC[profile];
    const visits = VISITS_PER_DAY.map(
      (visitsPerDay) => [visitsPerDay, totalUsd(billOf({ ...busy, visitsPerDay }))] as const,
    );
    return [
      formatReport(title, IDLE, billOf(IDLE)),
      [
        formatReport(title, busy, billOf(busy)),
        formatPlan(billOf(busy)),
        profiles[profile].streamHost === 'on-demand' && title === profile ? formatVisits(visits) : '',
        formatWorstDay(worstDay(settings, profileOf(settings)), profileOf(settings)),
      ]
        .filter(Boolean)
        .join('\n'),
    ];
  });
  process.stdout.write(
    [
      `What an account pays a month in us-east-1, in USD before tax, at the prices of ${PRICES_AS_OF},`,
      'after what AWS gives every account free. Assumed, not measured in an account.',
      '',
      ...reports.map((text) => `${text}\n`),
      'A Lambda Web Function is billed by quantities whose prices AWS does not document: see the pricing page of Lambda.',
      'Traffic to viewers is most of a busy bill, at the prices of North America and Europe. A flat-rate plan covers one',
      'distribution with its firewall (-c pricingPlan=…): see docs/operating-aws.md.',
      '',
    ].join('\n'),
  );
} catch (error) {
  const isArgument = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  if (!(isArgument || error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
