import { messageOf } from '../../core/errors/index.ts';
import type { Step } from './plan.ts';

/** What the steps do to the account. Each throws an Error that says what went wrong. */
export interface ProofActions {
  /** Profile of the stage if it is deployed. */
  deployedProfile(): Promise<string | undefined>;
  /** Runs `infra/cli/main.ts`. */
  runCli(args: readonly string[], signal: AbortSignal): Promise<void>;
  /** Verifies the deployment of the last `deploy`. */
  verify(): Promise<void>;
  /** Updates the tools of that deployment and waits for the end. @returns what happened */
  updateTools(): Promise<string>;
}

export interface ProofInput {
  readonly steps: readonly Step[];
  readonly stage: string;
  readonly actions: ProofActions;
  readonly say: (line: string) => void;
  /** Aborted: no further step but the destruction. */
  readonly signal: AbortSignal;
}

/** The outcome of a step. */
export interface StepResult {
  readonly title: string;
  readonly outcome: 'ok' | 'failed' | 'skipped';
  readonly seconds: number;
}

/**
 * Runs the steps. After a failed one only the stage is destroyed, if the plan has that.
 * @throws Error when the stage exists: it is not this script's to destroy
 */
export async function prove(input: ProofInput): Promise<StepResult[]> {
  const { steps, stage, actions, say, signal } = input;
  const existing = await actions.deployedProfile();
  if (existing !== undefined)
    throw new Error(`The stage ${stage} exists, with the profile ${existing}: name another one`);
  const results: StepResult[] = [];
  let hasFailed = false;
  for (const step of steps) {
    const isCleanup = step.kind === 'destroy' || step.kind === 'check-gone';
    if ((hasFailed || signal.aborted) && !isCleanup) {
      results.push({ title: step.title, outcome: 'skipped', seconds: 0 });
      continue;
    }
    say(`\n${step.title}`);
    const startedAt = performance.now();
    try {
      await runStep(step, input);
      results.push({ title: step.title, outcome: 'ok', seconds: secondsSince(startedAt) });
    } catch (error) {
      hasFailed = true;
      say(messageOf(error));
      results.push({ title: step.title, outcome: 'failed', seconds: secondsSince(startedAt) });
    }
  }
  return results;
}

const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1_000;

async function runStep(step: Step, { actions, say, signal }: ProofInput): Promise<void> {
  switch (step.kind) {
    case 'deploy':
      return actions.runCli(step.args, signal);
    case 'destroy':
      // Also after an interruption.
      return actions.runCli(step.args, new AbortController().signal);
    case 'verify':
      return actions.verify();
    case 'update-tools':
      return say(await actions.updateTools());
    case 'check-gone': {
      const left = await actions.deployedProfile();
      if (left !== undefined) throw new Error(`A stack with the profile ${left} still exists`);
    }
  }
}

/** The outcomes as a table, and what is left to do. */
export function formatProof(results: readonly StepResult[], stage: string): string {
  const width = Math.max(...results.map(({ title }) => title.length));
  const lines = results.map(
    ({ title, outcome, seconds }) => `  ${title.padEnd(width)}  ${outcome.padEnd(7)}  ${(seconds / 60).toFixed(1)} min`,
  );
  const isDestroyed = results.some(({ title, outcome }) => title.startsWith('Destroy') && outcome === 'ok');
  const rest = isDestroyed ? [] : [`The stage remains: npm run destroy -- -c stage=${stage}`];
  return ['', ...lines, ...rest].join('\n');
}

/** Whether every step was carried out. */
export const isProven = (results: readonly StepResult[]): boolean => results.every(({ outcome }) => outcome === 'ok');
