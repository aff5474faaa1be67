import { type CfnResource, CustomResourceProviderBase, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/** A log group that goes with the stack. @param days that its entries are kept */
export const createLogGroup = (scope: Construct, id: string, days: number): LogGroup =>
  new LogGroup(scope, id, { retention: days, removalPolicy: RemovalPolicy.DESTROY });

/** Writing to one log group, which it cannot create: a late line would bring it back after the stack has gone. */
export const logWriteStatement = (logGroup: ILogGroup): PolicyStatement =>
  new PolicyStatement({ actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [logGroup.logGroupArn] });

/** A role for a function that CDK brings along, with nothing but its logs. */
export function createProviderRole(scope: Construct, id: string, logGroup: ILogGroup): Role {
  const role = new Role(scope, id, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  role.addToPolicy(logWriteStatement(logGroup));
  return role;
}

/** Gives the functions that CDK adds by itself a log group of the stack: theirs would stay behind when it goes. */
export function useStackLogGroups(stack: Stack, days: number): void {
  const providers = stack.node.findAll().filter((node) => node instanceof CustomResourceProviderBase);
  for (const provider of providers) {
    const logGroup = createLogGroup(provider, 'Log', days);
    const { actions, resources } = logWriteStatement(logGroup);
    provider.addToRolePolicy({ Effect: 'Allow', Action: actions, Resource: resources });
    const role = provider.node.findChild('Role') as CfnResource;
    role.addPropertyOverride('ManagedPolicyArns', []);
    const handler = provider.node.findChild('Handler') as CfnResource;
    handler.addPropertyOverride('LoggingConfig', { LogGroup: stack.resolve(logGroup.logGroupName) });
  }
}
