import { Stack } from 'aws-cdk-lib';
import type { PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import {
  AwsCustomResource,
  AwsCustomResourcePolicy,
  type AwsCustomResourceProps,
  type AwsSdkCall,
} from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { createLogGroup, createProviderRole } from './logs.ts';

interface SdkCallProps {
  /** Made when the resource is created, and again when the call changes. */
  readonly call: AwsSdkCall;
  readonly permissions: PolicyStatement[];
  readonly logDays: number;
}

/** One AWS SDK call at deployment, by the function that CDK shares among all of them. */
export class SdkCall extends AwsCustomResource {
  constructor(scope: Construct, id: string, { call, permissions, logDays }: SdkCallProps) {
    super(scope, id, {
      ...sharedProvider(scope, logDays),
      onUpdate: call,
      policy: AwsCustomResourcePolicy.fromStatements(permissions),
      installLatestAwsSdk: false,
    });
  }
}

/** Role and log group of the shared function, created once per stack. */
function sharedProvider(scope: Construct, logDays: number): Pick<AwsCustomResourceProps, 'role' | 'logGroup'> {
  const stack = Stack.of(scope);
  const existing = stack.node.tryFindChild('SdkCalls');
  if (existing) {
    const { node } = existing;
    return { role: node.findChild('Role') as Role, logGroup: node.findChild('Log') as LogGroup };
  }
  const shared = new Construct(stack, 'SdkCalls');
  const logGroup = createLogGroup(shared, 'Log', logDays);
  return { logGroup, role: createProviderRole(shared, 'Role', logGroup) };
}
