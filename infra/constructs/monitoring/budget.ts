import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import type { Deployment } from '../../config/index.ts';

/** Percent of the budget: two that have come to pass, one that is foreseen. */
const NOTIFICATIONS = [
  { notificationType: 'ACTUAL', threshold: 50 },
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
];

/**
 * What the account may cost a month. The whole account: by the stack's tags alone it would stay silent until somebody has
 * activated them for billing.
 */
export class AccountBudget extends CfnBudget {
  constructor(scope: Construct, id: string, { settings, profile }: Deployment) {
    const address = settings.alarmEmail;
    super(scope, id, {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: profile.monthlyBudget, unit: 'USD' },
      },
      ...(address && {
        notificationsWithSubscribers: NOTIFICATIONS.map((warning) => ({
          notification: { ...warning, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
          subscribers: [{ subscriptionType: 'EMAIL', address }],
        })),
      }),
    });
  }
}
