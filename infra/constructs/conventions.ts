import { CfnResource, CustomResourceProviderBase, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import {
  type AddToPrincipalPolicyResult,
  PolicyDocument,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { rules } from 'cdk-nag';
import type { Construct, IConstruct } from 'constructs';
import { SettingError } from '../../core/config/index.ts';

/** CloudFront's limit. */
const MAX_CHARACTERS = 64;
/** Stands for a value that is known at deployment only: as long as the longest name of a region. */
const LONGEST_REGION = 'ap-southeast-0';

/**
 * A name for a CloudFront resource. CloudFront is global, so names must be unique in the account: CDK's generated names
 * lack the region, and the same stage in two regions would collide.
 * @throws SettingError where the name of the stack makes it too long
 */
export const regionalName = (scope: Construct, suffix: string): string => {
  const { stackName, region } = Stack.of(scope);
  const name = `${stackName}-${region}-${suffix}`;
  if (name.replaceAll(/\$\{Token\[[^\]]*\]\}/g, LONGEST_REGION).length <= MAX_CHARACTERS) return name;
  throw new SettingError(`The name of the stack ${stackName} is too long: CloudFront has ${MAX_CHARACTERS} characters`);
};

/**
 * ARN of any distribution of the account, for permissions of CloudFront. The ARN of the distribution itself would make them
 * follow it: a change of the stream host would refuse requests until the distribution is deployed everywhere.
 */
export const anyDistribution = (scope: Construct): string =>
  Stack.of(scope).formatArn({ service: 'cloudfront', region: '', resource: 'distribution', resourceName: '*' });

/** A statement that allows actions on the resources that are defined; none where all are undefined. */
export function allow(actions: string[], ...resources: readonly (string | undefined)[]): PolicyStatement[] {
  const named = resources.filter((arn) => arn !== undefined);
  return named.length > 0 ? [new PolicyStatement({ actions, resources: named })] : [];
}

/** Allows actions on items whose partition key matches one of the patterns. @param actions without prefix: `GetItem` */
export const allowItems = (table: ITable, keys: readonly string[], ...actions: string[]): PolicyStatement =>
  new PolicyStatement({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn],
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': keys } },
  });

/** Allows actions on the keys of a key-value store of the edge. @param actions without prefix: `GetKey` */
export const allowKeys = (keyValueStoreArn: string, ...actions: string[]): PolicyStatement[] =>
  allow(
    ['DescribeKeyValueStore', ...actions].map((action) => `cloudfront-keyvaluestore:${action}`),
    keyValueStoreArn,
  );

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

/**
 * A role that has all of its statements when it is created. One that follows in a policy of its own takes up to a minute to reach the
 * role, and what is created behind that policy would be refused.
 */
export class InlineRole extends Role {
  readonly #statements: PolicyDocument;

  constructor(scope: Construct, id: string, principal: string) {
    const statements = new PolicyDocument();
    super(scope, id, { assumedBy: new ServicePrincipal(principal), inlinePolicies: { permissions: statements } });
    this.#statements = statements;
  }

  override addToPrincipalPolicy(statement: PolicyStatement): AddToPrincipalPolicyResult {
    this.#statements.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }
}

/** The role of a function that CDK provides, which may write its logs. */
export function createProviderRole(scope: Construct, id: string, logGroup: ILogGroup): Role {
  const role = new InlineRole(scope, id, 'lambda.amazonaws.com');
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

/** A private bucket that is emptied and deleted with the stack. */
export function createBucket(scope: Construct, id: string): Bucket {
  const bucket = new Bucket(scope, id, {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    removalPolicy: RemovalPolicy.DESTROY,
    autoDeleteObjects: true,
  });
  suppressNag(bucket, { S1: 'Holds published files only; deployments are recorded by CloudTrail' });
  return bucket;
}

/** Every wildcard that a policy of the service needs: what matches cdk-nag's finding, and the reason. */
const WILDCARDS: readonly (readonly [finding: RegExp, reason: string])[] = [
  [/^Resource::\*$/, 'The actions support no resource'],
  [/^Resource::<ToolsBucket\w+\.Arn>\/\*$/, 'Release archives in one bucket; their keys contain the version'],
  [/^Resource::<ApiResolver\w+\.Arn>:\*$/, 'Versions of one function; numbers are assigned when published'],
  [/^Resource::.*:layer:[\w-]+-tools:\*$/, 'Versions of one layer; numbers are assigned when published'],
  [/^Resource::.*:task\/<\w+>\/\*$/, 'A task protects itself from scale-in; its id is known only at run time'],
];

/**
 * Suppresses the known wildcard findings of all policies in a scope; any other remains an error. cdk-nag requires the exact text of
 * each finding, which contains logical ids, so its own rule is run to obtain it.
 * @param foreign the reason for all wildcards of a construct that a library provides
 */
export function suppressWildcards(scope: IConstruct, foreign?: string): void {
  for (const node of scope.node.findAll()) {
    if (!CfnResource.isCfnResource(node)) continue;
    const found = rules.iam.IAMNoWildcardPermissions(node);
    for (const finding of Array.isArray(found) ? found : []) {
      const reason = foreign ?? WILDCARDS.find(([known]) => known.test(finding))?.[1];
      if (reason) suppressNag(scope, { [`IAM5[${finding}]`]: reason });
    }
  }
}

/** Suppresses AwsSolutions rules for a construct and its children. @param reasons by the rule's short name: `S1` */
export function suppressNag(scope: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [rule, reason] of Object.entries(reasons)) {
    Validations.of(scope).acknowledge({ id: `AwsSolutions-${rule}`, reason });
  }
}
