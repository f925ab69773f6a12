"""Where the pages stand: the sidebar and the buttons of the home page. The environment has no say here."""

# The sidebar: (title, [(model, words, icon, what waits there, for whom)]). What waits is "column=value",
# counted for who holds the permission, or for everybody who sees the page; "mine" is what its page says.
NAVIGATION: list[tuple[str, list[tuple[str, ...]]]] = [
    ("Cards", [
        ("cards.customer", "Customers", "domain"),
        ("cards.cardholder", "Cardholders", "badge", "review_state=unreviewed", "cards.add_cardholderreview"),
        ("cards.card", "Cards", "credit_card"),
        ("cards.cardorder", "Card orders", "add_card"),
        ("cards.cardholderrequest", "Registrations", "person_add", "needs_person=True"),
    ]),
    ("Money", [
        ("funding.depositrequest", "Deposit requests", "request_quote", "needs_person=True"),
        ("funding.deposit", "Deposits", "south_west"),
        ("funding.withdrawal", "Withdrawals", "north_east"),
        ("funding.wallet", "Wallets", "account_balance_wallet"),
    ]),
    ("Decisions", [
        ("approvals.approval", "Approvals", "rule", "mine"),
        ("approvals.bulkrun", "Approvals of many", "done_all"),
        ("approvals.decision", "Decisions made", "how_to_reg"),
        ("approvals.decisionfigures", "Figures of decisions", "monitoring"),
        ("approvals.ruleset", "Rules", "gavel"),
        ("approvals.rulesetchange", "Changes of rules", "difference", "mine", "approvals.change_rules"),
        ("approvals.limit", "Personal limits", "price_check"),
        ("approvals.limitchange", "Raises of limits", "trending_up", "mine", "approvals.change_limits"),
    ]),
    ("Oversight", [
        ("delivery.alert", "Alerts", "notification_important", "cleared_at=None"),
        ("audit.entry", "Audit trail", "history_edu"),
        ("cards.cardholderreview", "Reviews", "fact_check"),
        ("cards.cardreveal", "Reveals", "visibility"),
        ("cards.sealeddetails", "Sealed details", "lock"),
        ("cards.retentionreport", "Retention", "auto_delete"),
        ("funding.webhookevent", "Webhook events", "webhook"),
        ("delivery.attempt", "Attempts", "outbox"),
    ]),
    ("House", [
        ("access.user", "People", "group"),
        ("auth.group", "Roles", "shield_person"),
        ("cards.assignment", "Assignments", "assignment_ind"),
        ("delivery.line", "Line to Endl", "cable"),
        ("cards.encryptionkey", "Keys", "key"),
        ("delivery.hold", "Holds", "back_hand", "lifted_at=None"),
        ("delivery.pause", "Pauses", "pause_circle"),
        ("mirror.pull", "Syncs", "sync"),
        ("mirror.read", "Assumed reads", "travel_explore"),
    ]),
]  # fmt: skip
# The buttons of the home page: (words, URL name, permission, icon).
QUICK_ACTIONS = [
    ("Request deposit", "admin:funding_depositrequest_add", "funding.add_depositrequest", "add"),
    ("Issue card", "admin:cards_cardorder_add", "cards.add_cardorder", "add_card"),
    ("Register cardholder", "admin:cards_cardholderrequest_add", "cards.add_cardholderrequest", "person_add"),
    ("Add customer", "admin:cards_customer_add", "cards.add_customer", "domain_add"),
]
