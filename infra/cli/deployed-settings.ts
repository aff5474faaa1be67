import {
  CloudFormationClient,
  DescribeStackEventsCommand,
  DescribeStacksCommand,
  type Stack,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';

/** What the cost guard answers. */
export interface SpendingReport {
  /** ISO 8601; null: the edge is open. */
  readonly closedUntil: string | null;
  readonly spending: Readonly<Record<'hour' | 'day', { readonly spent: number }>>;
  readonly caps: Readonly<Record<'hour' | 'day', number>>;
}

/** The settings of a stack that exists. */
export interface DeployedSettings {
  /** Undefined where nothing tells it. */
  readonly profile?: string | undefined;
  /** Whether it serves; false after a first deployment that failed. */
  readonly isComplete: boolean;
  /** Whether CloudFormation refuses to delete it. */
  readonly isProtected?: boolean;
  /** Name of the table that stays when it is deleted. */
  readonly retainedTable?: string;
}

const NEVER_COMPLETE = ['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED', 'DELETE_FAILED'];

/**
 * The settings that a stack is deployed with, by its output `Profile`. Undefined while it is not deployed.
 * @throws Error when AWS gives no clear answer
 */
export async function readDeployedSettings(
  stackName: string,
  region: string,
  awsProfile?: string,
): Promise<DeployedSettings | undefined> {
  const stack = await findStack(stackName, region, awsProfile);
  if (!stack) return undefined;
  const isComplete = !NEVER_COMPLETE.includes(stack.StackStatus ?? '');
  const retainedTable = outputOf(stack, 'RetainedTable');
  return {
    profile: outputOf(stack, 'Profile'),
    isComplete,
    ...(stack.EnableTerminationProtection && { isProtected: true }),
    ...(retainedTable && { retainedTable }),
  };
}

/** An output of a stack. Undefined without it, or while the stack is not deployed. @throws Error as `readDeployedSettings` */
export async function readOutput(
  stackName: string,
  output: string,
  region: string,
  awsProfile?: string,
): Promise<string | undefined> {
  const stack = await findStack(stackName, region, awsProfile);
  return stack && outputOf(stack, output);
}

/**
 * Invokes the cost guard of a stack.
 * @returns undefined without a stack, or one without a guard
 * @throws Error when the guard fails, or AWS gives no clear answer
 */
export async function askCostGuard(
  stackName: string,
  region: string,
  { awsProfile, open = false }: { readonly awsProfile?: string | undefined; readonly open?: boolean } = {},
): Promise<SpendingReport | undefined> {
  const FunctionName = await readOutput(stackName, 'CostGuardFunction', region, awsProfile);
  if (!FunctionName) return undefined;
  const client = new LambdaClient({ region, profile: awsProfile });
  try {
    const Payload = JSON.stringify(open ? { open } : {});
    const { FunctionError, Payload: answer } = await client.send(new InvokeCommand({ FunctionName, Payload }));
    const text = answer?.transformToString() ?? '';
    if (FunctionError) throw new Error(`The cost guard failed: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  } finally {
    client.destroy();
  }
}

const outputOf = ({ Outputs }: Stack, name: string): string | undefined =>
  Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue;

async function findStack(stackName: string, region: string, awsProfile?: string): Promise<Stack | undefined> {
  const client = new CloudFormationClient({ region, profile: awsProfile });
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    return Stacks[0];
  } catch (error) {
    // The same code as for an invalid request.
    if (error instanceof Error && /does not exist$/.test(error.message)) return undefined;
    throw error;
  } finally {
    client.destroy();
  }
}

/**
 * Whether a deployment has met another change of one of its functions, as the update of the tools makes twice a day for seconds:
 * deploying again works.
 * @param since when the deployment began
 */
export async function hasMetConflict(
  stackName: string,
  region: string,
  since: Date,
  awsProfile?: string,
): Promise<boolean> {
  const client = new CloudFormationClient({ region, profile: awsProfile });
  const request = new DescribeStackEventsCommand({ StackName: stackName });
  const { StackEvents = [] } = await client.send(request).finally(() => client.destroy());
  return StackEvents.some(
    ({ Timestamp, ResourceStatusReason = '' }) =>
      Timestamp !== undefined &&
      Timestamp >= since &&
      /ResourceConflict|update is in progress/i.test(ResourceStatusReason),
  );
}

/** Lets CloudFormation delete a stack. @throws Error when AWS refuses */
export async function unprotect(stackName: string, region: string, awsProfile?: string): Promise<void> {
  const client = new CloudFormationClient({ region, profile: awsProfile });
  const request = { StackName: stackName, EnableTerminationProtection: false };
  await client.send(new UpdateTerminationProtectionCommand(request)).finally(() => client.destroy());
}

/**
 * Why a deployment that does not name its profile must not continue: the default would replace the deployed stream host.
 * Undefined when they agree, or when nothing is deployed.
 * @param fallback the profile where none is named
 */
export function findProfileConflict(deployed: DeployedSettings | undefined, fallback: string): string | undefined {
  if (!deployed?.isComplete || deployed.profile === fallback) return undefined;
  // Without the output, it was deployed by an earlier version.
  if (!deployed.profile)
    return 'The stack does not tell its profile, and none was named: add -c profile=… of the deployed one to keep it';
  return `The deployed profile is ${deployed.profile}, and none was named: add -c profile=${deployed.profile} to keep it, or -c profile=${fallback} to change it`;
}
