import { type CfnResource, CustomResourceProviderBase, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { allow } from './allow.ts';

/** A log group that is deleted with the stack. @param days retention @param logGroupName a generated one by default */
export const createLogGroup = (scope: Construct, id: string, days: number, logGroupName?: string): LogGroup =>
  new LogGroup(scope, id, {
    retention: days,
    removalPolicy: RemovalPolicy.DESTROY,
    ...(logGroupName && { logGroupName }),
  });

/** Allows writing to one log group but not creating it: a late log line would recreate it after the stack is deleted. */
export const allowLogging = ({ logGroupArn }: ILogGroup): PolicyStatement[] =>
  allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroupArn);

/** The role of a function that CDK provides, which may only write its logs. */
export function createProviderRole(scope: Construct, id: string, logGroup: ILogGroup): Role {
  const role = new Role(scope, id, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  for (const statement of allowLogging(logGroup)) role.addToPolicy(statement);
  return role;
}

/** Gives the functions that CDK adds a log group of the stack: the ones they create themselves outlive it. */
export function useStackLogGroups(stack: Stack, days: number): void {
  const providers = stack.node.findAll().filter((node) => node instanceof CustomResourceProviderBase);
  for (const provider of providers) {
    const logGroup = createLogGroup(provider, 'Log', days);
    for (const statement of allowLogging(logGroup)) provider.addToRolePolicy(statement.toStatementJson());
    const role = provider.node.findChild('Role') as CfnResource;
    role.addPropertyOverride('ManagedPolicyArns', []);
    const handler = provider.node.findChild('Handler') as CfnResource;
    handler.addPropertyOverride('LoggingConfig', { LogGroup: stack.resolve(logGroup.logGroupName) });
  }
}
