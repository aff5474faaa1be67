import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateDescribeStackEvents,
  paginateDescribeStacks,
  type Stack,
  UpdateTerminationProtectionCommand,
} from '@aws-sdk/client-cloudformation';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { GuardEvent, GuardReport } from '../../core/spending/index.ts';

/** The region and credentials of requests to AWS. */
export interface AwsTarget {
  readonly region: string;
  /** Profile of the AWS configuration. */
  readonly profile?: string | undefined;
}

/** A CloudFormation stack in that region. */
export interface StackTarget extends AwsTarget {
  readonly stackName: string;
}

/** What CloudFormation says of a stack. */
interface DeployedStack {
  /** Whether it has been deployed completely once; false after a first deployment that failed. */
  readonly isComplete: boolean;
  /** Whether CloudFormation refuses to delete it. */
  readonly isProtected: boolean;
  readonly outputs: Readonly<Record<string, string>>;
}

/**
 * Context with which the app contains every stack that any profile may have deployed: `public` has the most. The other settings are
 * blank, which counts as not set, because values for another profile may be invalid for `public`.
 */
export const EVERY_STACK = { profile: 'public', minTasks: '', maxTasks: '', resolverConcurrency: '', pricingPlan: '' };

const NEVER_COMPLETE = ['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED', 'DELETE_FAILED'];
/** The least that the rule `CheckBootstrapVersion` of the stacks admits. */
const MIN_BOOTSTRAP_VERSION = 6;

/** Undefined while it is not deployed. @throws Error when AWS gives no clear answer */
export async function findStack({ stackName: StackName, ...target }: StackTarget): Promise<DeployedStack | undefined> {
  try {
    const { Stacks = [] } = await new CloudFormationClient(target).send(new DescribeStacksCommand({ StackName }));
    const [stack] = Stacks;
    return (
      stack && {
        isComplete: !NEVER_COMPLETE.includes(stack.StackStatus ?? ''),
        isProtected: stack.EnableTerminationProtection === true,
        outputs: outputsOf(stack),
      }
    );
  } catch (error) {
    // The same code as for an invalid request.
    if (error instanceof Error && /does not exist$/.test(error.message)) return undefined;
    throw error;
  }
}

const outputsOf = ({ Outputs = [] }: Stack): Record<string, string> =>
  Object.fromEntries(Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));

/**
 * Whether CDK's bootstrap with that qualifier is there, whatever its stack is called, in a version that the stacks can use.
 * @throws Error when AWS gives no clear answer
 */
export async function isBootstrapped(target: AwsTarget, qualifier = 'hnb659fds'): Promise<boolean> {
  for await (const { Stacks = [] } of paginateDescribeStacks({ client: new CloudFormationClient(target) }, {})) {
    const isUsable = (stack: Stack) =>
      Number(outputsOf(stack).BootstrapVersion) >= MIN_BOOTSTRAP_VERSION &&
      stack.Parameters?.some((each) => each.ParameterKey === 'Qualifier' && each.ParameterValue === qualifier);
    if (Stacks.some(isUsable)) return true;
  }
  return false;
}

/**
 * Invokes the cost guard of a stack.
 * @returns undefined without a stack, or one without a guard
 * @throws Error when the guard fails, or AWS gives no clear answer
 */
export async function invokeCostGuard(target: StackTarget, request: GuardEvent = {}): Promise<GuardReport | undefined> {
  const FunctionName = (await findStack(target))?.outputs.CostGuardFunction;
  if (!FunctionName) return undefined;
  const invocation = new InvokeCommand({ FunctionName, Payload: JSON.stringify(request) });
  const { FunctionError, Payload } = await new LambdaClient(target).send(invocation);
  const answer = Payload?.transformToString() ?? '';
  if (FunctionError) throw new Error(`The cost guard failed: ${answer.slice(0, 300)}`);
  return JSON.parse(answer);
}

/**
 * Whether a deployment failed because one of its functions was being changed at the same time. The scheduled update of the tools does
 * that twice a day for some seconds, so that a second deployment succeeds.
 * @param since when the deployment began
 */
export async function hasUpdateConflict({ stackName, ...target }: StackTarget, since: Date): Promise<boolean> {
  const client = new CloudFormationClient(target);
  // Newest first: those of the rollback are before the failure, and may fill a page.
  for await (const { StackEvents = [] } of paginateDescribeStackEvents({ client }, { StackName: stackName }))
    for (const { Timestamp, ResourceStatusReason = '' } of StackEvents) {
      if (!Timestamp || Timestamp < since) return false;
      if (/ResourceConflict|update is in progress/i.test(ResourceStatusReason)) return true;
    }
  return false;
}

/** Lets CloudFormation delete a stack. @throws Error when AWS refuses */
export async function unprotect({ stackName, ...target }: StackTarget): Promise<void> {
  const request = { StackName: stackName, EnableTerminationProtection: false };
  await new CloudFormationClient(target).send(new UpdateTerminationProtectionCommand(request));
}
