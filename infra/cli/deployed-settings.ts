import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';

/** The settings that choose the stream host; each is undefined where nothing tells it. */
export interface StreamHostSettings {
  readonly profile?: string | undefined;
  readonly streamHost?: string | undefined;
}

/** The settings of a stack that exists. */
export interface DeployedSettings extends StreamHostSettings {
  /** Whether it serves; false after a first deployment that failed. */
  readonly isComplete: boolean;
  /** Whether CloudFormation refuses to delete it. */
  readonly isProtected?: boolean;
  /** Name of the table that stays when it is deleted. */
  readonly retainedTable?: string;
}

const NEVER_COMPLETE = ['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED', 'DELETE_FAILED'];

/**
 * The settings that a stack is deployed with, by its outputs `Profile` and `StreamHost`. Undefined while it is not deployed.
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
    ...{ profile: outputOf(stack, 'Profile'), streamHost: outputOf(stack, 'StreamHost'), isComplete },
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

/** Lets CloudFormation delete a stack. @throws Error when AWS refuses */
export async function unprotect(stackName: string, region: string, awsProfile?: string): Promise<void> {
  const client = new CloudFormationClient({ region, profile: awsProfile });
  const request = { StackName: stackName, EnableTerminationProtection: false };
  await client.send(new UpdateTerminationProtectionCommand(request)).finally(() => client.destroy());
}

/**
 * Why a deployment that does not name its profile or stream host must not continue: the default would replace the deployed
 * stream host. Undefined when they agree, or when nothing is deployed.
 */
export function findSettingsConflict(
  deployed: DeployedSettings | undefined,
  named: StreamHostSettings,
  fallback: Required<StreamHostSettings>,
): string | undefined {
  if (!deployed?.isComplete) return undefined;
  const onLambda = deployed.streamHost === 'lambda' && !named.streamHost;
  // Without the output, it was deployed by an earlier version.
  if (!named.profile && !deployed.profile)
    return 'The stack does not tell its profile, and none was named: add -c profile=… of the deployed one to keep it';
  if (!named.profile && deployed.profile !== fallback.profile) {
    const keep = `-c profile=${deployed.profile}${onLambda ? ' -c streamHost=lambda' : ''}`;
    return `The deployed profile is ${deployed.profile}, and none was named: add ${keep} to keep it, or -c profile=${fallback.profile} to change it`;
  }
  if (onLambda && (named.profile ?? fallback.profile) === deployed.profile)
    return `The deployed stream host is lambda, and none was named: add -c streamHost=lambda to keep it, or -c streamHost=${fallback.streamHost} to change it`;
  return undefined;
}
