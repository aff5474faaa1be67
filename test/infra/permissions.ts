/** A policy statement. */
interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
interface Policy {
  readonly PolicyDocument: { readonly Statement: readonly Statement[] };
  readonly Roles?: readonly { readonly Ref: string }[];
}
export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

/** Sorted actions and AWS managed policies of each role, by its logical id without the hash. */
export function actionsByRole({ Resources }: Template): Record<string, string[]> {
  const roles = Object.entries(Resources).filter(([, { Type }]) => Type === 'AWS::IAM::Role');
  return Object.fromEntries(
    roles.map(([id, { Properties = {} }]) => {
      const inline = (Properties.Policies ?? []) as Policy[];
      const managed = (Properties.ManagedPolicyArns ?? []) as unknown[];
      const actions = [...inline, ...policiesFor(id, Resources)].flatMap(statementsOf).flatMap(actionsOf);
      return [withoutHash(id), [...new Set(actions), ...managed.map((arn) => `managed ${JSON.stringify(arn)}`)].sort()];
    }),
  );
}

/** Resources of an action, by role. Inline policies only. */
export const resourcesByRole = ({ Resources }: Template, action: string): Record<string, unknown[]> =>
  Object.fromEntries(
    Object.entries(Resources).flatMap(([id, each]) => {
      const found = inlineStatements(each).filter((statement) => actionsOf(statement).includes(action));
      return found.length > 0 ? [[withoutHash(id), found.flatMap(({ Resource }) => [Resource].flat())]] : [];
    }),
  );

/** Table items that each role has access to, by action; `any` without a condition. Inline policies only. */
export const itemsByRole = ({ Resources }: Template): Record<string, Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(Resources).flatMap(([id, each]) => {
      const found = inlineStatements(each).flatMap((statement) =>
        actionsOf(statement)
          .filter((action) => action.startsWith('dynamodb:'))
          .map((action) => [
            action.replace('dynamodb:', ''),
            [statement.Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? 'any'].flat(),
          ]),
      );
      const byAction = Map.groupBy(found, ([action]) => action as string);
      const entries = [...byAction].map(([action, each]) => [action, each.flatMap(([, keys]) => keys).sort()]);
      return entries.length > 0 ? [[withoutHash(id), Object.fromEntries(entries)]] : [];
    }),
  );

/** Statements with the resource `*`. */
export const wildcardStatements = ({ Resources }: Template): string[] =>
  Object.entries(Resources).flatMap(([id, each]) =>
    allStatements(each)
      .filter(({ Resource }) => [Resource].flat().includes('*'))
      .flatMap((statement) => actionsOf(statement).map((action) => `${withoutHash(id)} ${action}`)),
  );

/** Pairs of a statement and one of its resources: on `*`, and with a wildcard in resource or action. */
export function countWildcards({ Resources }: Template): [everything: number, all: number] {
  const pairs = Object.values(Resources).flatMap((each) =>
    allStatements(each)
      .filter(({ Effect }) => Effect === 'Allow')
      .flatMap(({ Action, Resource }) => [Resource].flat().map((resource) => ({ Action, resource }))),
  );
  const wild = pairs.filter((pair) => JSON.stringify(pair).includes('*'));
  return [wild.filter(({ resource }) => resource === '*').length, wild.length];
}

export const withoutHash = (logicalId: string): string => logicalId.replace(/[0-9A-F]{8}$/, '');

const policiesFor = (role: string, resources: Template['Resources']): Policy[] =>
  Object.values(resources)
    .filter(({ Type }) => Type === 'AWS::IAM::Policy')
    .map(({ Properties }) => Properties as unknown as Policy)
    .filter(({ Roles = [] }) => Roles.some(({ Ref }) => Ref === role));

/** Of the policies of a role that are written in it. */
const inlineStatements = ({ Type, Properties = {} }: Resource): readonly Statement[] =>
  Type === 'AWS::IAM::Role' ? ((Properties.Policies ?? []) as Policy[]).flatMap(statementsOf) : [];

/** Of a role or a policy. */
const allStatements = (resource: Resource): readonly Statement[] =>
  resource.Type === 'AWS::IAM::Policy' ? statementsOf(resource.Properties as never) : inlineStatements(resource);

const statementsOf = ({ PolicyDocument }: Policy): readonly Statement[] => PolicyDocument.Statement;
const actionsOf = ({ Action }: Statement): string[] => [Action].flat();
