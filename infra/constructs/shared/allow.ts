import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';

/** Allows actions on the resources that there are. No statement where there is none. */
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
