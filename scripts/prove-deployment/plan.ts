import { contextOf, type ProofOptions } from './options.ts';

/** One step of a proof. */
export type Step =
  | { readonly kind: 'deploy' | 'destroy'; readonly title: string; readonly args: readonly string[] }
  | { readonly kind: 'verify' | 'update-tools' | 'check-gone'; readonly title: string };

/** Expected, not measured: minutes, and what the stage costs while it exists. */
const EXPECTED_MINUTES: Readonly<Record<Step['kind'], number>> = {
  deploy: 12,
  verify: 3,
  'update-tools': 3,
  destroy: 15,
  'check-gone': 1,
};
export const EXPECTED_COST = 'less than $1: tasks and a load balancer cost about $0.05 an hour, a firewall $0.01';

/** The steps after the stage is known not to exist. `deploy` and `destroy` have the arguments of `infra/cli/main.ts`. */
export function planProof({ stage, profiles, context, isKept }: ProofOptions, outputsFile: string): Step[] {
  const settings = ['-c', `stage=${stage}`, ...context.flatMap((pair) => ['-c', pair])];
  const deploy = (profile: string) => [
    ...['deploy', ...settings],
    ...Object.entries(contextOf(profile)).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ...['--yes', '--outputs-file', outputsFile],
  ];
  const changes = profiles.flatMap((profile, index): Step[] => [
    {
      kind: 'deploy',
      title:
        index === 0 ? `Deploy the profile ${profile}` : `Change the profile from ${profiles[index - 1]} to ${profile}`,
      args: deploy(profile),
    },
    { kind: 'verify', title: `Verify the profile ${profile}` },
    ...(index === 0
      ? ([
          { kind: 'update-tools', title: 'Update the tools' },
          { kind: 'verify', title: 'Verify the profile with updated tools' },
        ] as const)
      : []),
  ]);
  if (isKept) return changes;
  return [
    ...changes,
    { kind: 'destroy', title: 'Destroy the stage', args: ['destroy', ...settings, '--force', '--unprotect'] },
    { kind: 'check-gone', title: 'Check that nothing of the stage remains' },
  ];
}

/** The steps as text, numbered, with their commands. */
export function describePlan(steps: readonly Step[]): string {
  const lines = steps.flatMap((step, index) => [
    `${String(index + 1).padStart(2)}. ${step.title} (about ${EXPECTED_MINUTES[step.kind]} minutes)`,
    ...('args' in step ? [`    node infra/cli/main.ts ${step.args.join(' ')}`] : []),
  ]);
  const minutes = steps.reduce((sum, { kind }) => sum + EXPECTED_MINUTES[kind], 0);
  return [...lines, `About ${minutes} minutes, ${EXPECTED_COST}.`].join('\n');
}
